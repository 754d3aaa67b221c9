import Dispatch
import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import Synchronization
import TestSupport
import Testing

/// The samples of UsingItInAServer.md.
@Suite(.light) struct UsingItInAServerSamples {
  struct Order: Codable, Equatable, Sendable {
    let id: Int
  }

  final class Shop: Sendable {
    private let placed = BroadcastSource<Order>(name: "orders")
    private let openOrders = PublishedProperty(0, name: "open orders")
    var orders: Broadcaster<Order> { placed.publisher }
    var openCount: PublishedValue<Int> { openOrders.publisher }

    func place(_ order: Order) {
      openOrders.modify { $0 += 1 }
      placed.broadcast(order)
    }

    func close() {
      placed.end()
      openOrders.end()
    }
  }

  @Test func `every subscriber of the shop receives an order`() {
    let shop = Shop()
    let orders = Recorder(shop.orders)
    let counts = Recorder(shop.openCount)

    shop.place(Order(id: 7))

    #expect(orders.updates == [Order(id: 7)])
    #expect(counts.updates == [0, 1])
  }

  @Test func `a callback that blocks runs on a separate queue`() async {
    let shop = Shop()
    let archived = BroadcastSource<Order>()
    let recorder = Recorder(archived.publisher)
    let archive: @Sendable (Order) -> Void = { archived.broadcast($0) }

    let archiving = shop.orders
      .receive(on: DispatchQueue(label: "archive"))
      .subscribe { order in archive(order) }

    shop.place(Order(id: 7))
    #expect(await recorder.next() == [Order(id: 7)])
    archiving.invalidate()
  }

  @Test func `a fast sender awaits delivered`() async {
    let placed = BroadcastSource<Order>()
    let imported = (1...10).map { Order(id: $0) }
    let recorder = Recorder(placed.publisher)

    for order in imported {
      placed.broadcast(order)
      if placed.pendingUpdates > 1_000 { await placed.delivered() }
    }

    #expect(recorder.updates == imported)
  }

  typealias Write = @Sendable (String) async throws -> Void

  struct TooSlow: Error {}

  func countBody(
    of shop: Shop, beats: PublishedValue<Duration>
  ) -> @Sendable (Write) async throws -> Void {
    let updates = combineLatest(shop.openCount, beats).values(.bufferingNewest(1))
    return { write in
      var sent: Int?
      for await (count, _) in updates {
        try await write(count == sent ? ": keep-alive\n\n" : "data: \(count)\n\n")
        sent = count
      }
    }
  }

  func ordersBody(of shop: Shop) -> @Sendable (Write) async throws -> Void {
    let orders = shop.orders.values(.bufferingOldest(100))
    return { write in
      for await order in orders {
        if orders.droppedCount > 0 { throw TooSlow() }
        try await write("data: \(order.id)\n\n")
      }
    }
  }

  func ticks(
    of clock: ManualClock, until stop: PublishedTask<Int32, Never>
  ) -> PublishedValue<Duration> {
    let beats = clock.broadcaster(every: .seconds(15))
      .prefix(until: stop.broadcaster)
      .publishedValue(initial: .zero)
    return beats
  }

  @Test func `a keep-alive does not displace the value of a slow client`() async throws {
    let shop = Shop()
    let clock = ManualClock()
    let stop = TaskSource<Int32, Never>()
    let body = countBody(of: shop, beats: ticks(of: clock, until: stop.publisher))
    let lines = Paper()
    try await body { line in
      switch lines.lines.count {
      case 0:
        for id in 1...50 { shop.place(Order(id: id)) }
        await clock.advance(by: .seconds(15))
      case 1:
        await clock.advance(by: .seconds(15))
      default:
        stop.finish(.success(SIGTERM))
        shop.close()
      }
      lines.print(line)
    }
    #expect(lines.lines == ["data: 0\n\n", "data: 50\n\n", ": keep-alive\n\n"])
  }

  @Test func `a merged tick displaces the value in a buffer of one`() async {
    let shop = Shop()
    let beats = BroadcastSource<Void>()
    let updates = merge(shop.openCount.map { Optional($0) }, beats.publisher.map { nil })
      .values(.bufferingNewest(1))
    shop.place(Order(id: 1))
    beats.broadcast(())
    beats.end()
    shop.close()

    var received: [Int?] = []
    for await update in updates { received.append(update) }
    #expect(received == [nil])
  }

  @Test func `a client that misses an order is disconnected, and delays no sender`() async {
    let shop = Shop()
    let other = Recorder(shop.orders)
    let body = ordersBody(of: shop)
    let lines = Paper()
    shop.place(Order(id: 0))

    await #expect(throws: TooSlow.self) {
      try await body { line in
        lines.print(line)
        for id in 1...200 { shop.place(Order(id: id)) }
      }
    }

    #expect(lines.lines == ["data: 0\n\n"])
    #expect(other.updates.map(\.id) == Array(0...200))
  }

  func serve(
    _ shop: Shop, until stop: PublishedTask<Int32, Never>,
    connections: [@Sendable (Shop) async throws -> Void]
  ) async {
    await withTaskGroup { group in
      for connection in connections {
        group.addTask { try? await connection(shop) }
      }
      _ = await stop.result
      shop.close()
    }
  }

  @Test func `a server that stops sends its buffered orders first`() async {
    let shop = Shop()
    let stop = TaskSource<Int32, Never>()
    let lines = Paper()
    let orders = shop.orders.values(.unbounded)
    for id in 1...3 { shop.place(Order(id: id)) }
    stop.finish(.success(SIGTERM))

    await serve(
      shop, until: stop.publisher,
      connections: [
        { _ in for await order in orders { lines.print("\(order.id)") } }
      ])

    #expect(lines.lines == ["1", "2", "3"])
  }

  @Test func `the first signal is the result of a task`() async {
    await #expect(processExitsWith: .success) {
      let stop = DispatchSource.signals(SIGTERM, SIGINT).first()
      let received = Recorder(stop)
      kill(getpid(), SIGTERM)
      guard await received.next() == [.success(SIGTERM)] else { exit(1) }
      guard await stop.result == .success(SIGTERM) else { exit(2) }
      exit(0)
    }
  }

  final class Counts: Instrument {
    private let counts = Mutex<[String: Int]>([:])
    var all: [String: Int] { counts.withLock { $0 } }

    func record(_ event: InstrumentEvent) {
      switch event.kind {
      case .delivered: add(1, to: "\(event.label) delivered")
      case .dropped(let count): add(count, to: "\(event.label) dropped")
      case .backlog, .failed: log("\(event)")
      case .subscribed, .unsubscribed, .sourceFinished: break
      }
    }

    private func add(_ count: Int, to key: String) {
      counts.withLock { $0[key, default: 0] += count }
    }

    private func log(_ line: String) {
      FileHandle.standardError.write(Data("\(line)\n".utf8))
    }
  }

  @Test func `an instrument counts deliveries and drops by source name`() {
    let counts = Counts()
    let shop = withInstrument(counts) { Shop() }
    let orders = shop.orders.subscribe { _ in }
    let newest = shop.orders.values(.bufferingNewest(1))
    shop.place(Order(id: 1))
    shop.place(Order(id: 2))

    withExtendedLifetime((orders, newest)) {}
    #expect(counts.all == ["orders delivered": 4, "orders dropped": 1])
  }

  protocol Broker: Sendable {
    func publish(_ bytes: Data, to topic: String) async throws
    func messages(of topic: String) -> AsyncStream<Data>
  }

  func send<Event: Encodable>(
    _ events: PublisherValues<Event>, as topic: String, to broker: some Broker
  ) async throws {
    for await event in events {
      try await broker.publish(JSONEncoder().encode(event), to: topic)
    }
  }

  func events<Event: Decodable & Sendable>(
    of topic: String, from broker: some Broker
  ) -> Broadcaster<Event> {
    Broadcaster { receive in
      Broadcaster(broker.messages(of: topic))
        .compactMap { try? JSONDecoder().decode(Event.self, from: $0) }
        .subscribe(receive)
    }.share()
  }

  /// A broker that works within one process.
  final class Topics: Broker {
    private let messages = BroadcastSource<(topic: String, bytes: Data)>()

    func publish(_ bytes: Data, to topic: String) async throws {
      messages.broadcast((topic, bytes))
    }

    func messages(of topic: String) -> AsyncStream<Data> {
      let (stream, input) = AsyncStream.makeStream(of: Data.self)
      let subscription = messages.publisher.filter { $0.topic == topic }.subscribe {
        input.yield($0.bytes)
      }
      input.onTermination = { _ in subscription.invalidate() }
      return stream
    }
  }

  @Test func `two functions connect publishers to a broker`() async throws {
    let broker = Topics()
    let shop = Shop()
    let orders: Broadcaster<Order> = events(of: "orders", from: broker)
    let arrived = [Recorder(orders), Recorder(orders)]
    let outgoing = shop.orders.values(.bufferingOldest(10_000))

    shop.place(Order(id: 1))
    shop.place(Order(id: 2))
    shop.close()
    try await send(outgoing, as: "orders", to: broker)

    for arrived in arrived {
      #expect(await arrived.next(2) == [Order(id: 1), Order(id: 2)])
    }
  }

  enum Request {
    @TaskLocal static var id: String?
  }

  @Test func `an order is logged with the request that placed it`() async {
    await #expect(processExitsWith: .success) {
      Context.carry(Request.$id)
      let queue = DispatchQueue(label: "audit")
      let shop = Shop()
      let paper = Paper()
      let print = paper.print

      let audit = shop.orders.receive(on: queue).subscribe { order in
        print("\(Request.id ?? "none") placed \(order.id)")
      }
      Request.$id.withValue("a") { shop.place(Order(id: 1)) }
      Request.$id.withValue("b") { shop.place(Order(id: 2)) }
      await until { paper.lines.count == 2 }

      #expect(paper.lines == ["a placed 1", "b placed 2"])
      withExtendedLifetime(audit) {}
    }
  }
}
