import Dispatch
import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import Synchronization
import TestSupport
import Testing

/// The code of UsingItInAServer.md.
@Suite(.timeLimit(.minutes(20))) struct UsingItInAServerSamples {
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

  @Test func `handlers know the shop, not each other`() {
    let shop = Shop()
    let orders = Recorder(shop.orders)
    let counts = Recorder(shop.openCount)

    shop.place(Order(id: 7))

    #expect(orders.updates == [Order(id: 7)])
    #expect(counts.updates == [0, 1])
  }

  @Test func `what blocks has a queue of its own`() async {
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

  @Test func `whoever sends fast waits for room`() async {
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

  func countBody(of shop: Shop) -> @Sendable (Write) async throws -> Void {
    let counts = shop.openCount.values(.bufferingNewest(1))
    return { write in
      for await count in counts { try await write("data: \(count)\n\n") }
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

  @Test func `a slow client of a state gets the latest one`() async throws {
    let shop = Shop()
    let body = countBody(of: shop)
    let lines = Paper()
    try await body { line in
      if lines.lines.isEmpty {
        for id in 1...50 { shop.place(Order(id: id)) }
        shop.close()
      }
      lines.print(line)
    }
    #expect(lines.lines == ["data: 0\n\n", "data: 50\n\n"])
  }

  @Test func `a client that is too slow is sent away, and nobody waits for it`() async {
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

  @Test func `a server that is told to stop sends what it has and ends`() async {
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

  @Test func `a signal is what tells it`() async {
    await #expect(processExitsWith: .success) {
      let stop = DispatchSource.signals(SIGTERM, SIGINT).first()
      let told = Recorder(stop)
      kill(getpid(), SIGTERM)
      guard await told.next() == [.success(SIGTERM)] else { exit(1) }
      guard await stop.result == .success(SIGTERM) else { exit(2) }
      exit(0)
    }
  }

  final class Counts: Instrument {
    private let delivered = Mutex<[String: Int]>([:])
    var all: [String: Int] { delivered.withLock { $0 } }

    func record(_ event: InstrumentEvent) {
      switch event.kind {
      case .delivered: delivered.withLock { $0[event.label, default: 0] += 1 }
      case .dropped(let count): log("\(event.label): \(count) dropped")
      case .backlog(let depth): log("\(event.label): \(depth) wait")
      case .subscribed, .ended, .sourceGone: break
      }
    }

    private func log(_ line: String) {
      FileHandle.standardError.write(Data("\(line)\n".utf8))
    }
  }

  @Test func `deliveries are counted`() {
    let counts = Counts()
    let shop = withInstrument(counts) { Shop() }
    let orders = shop.orders.subscribe { _ in }
    shop.place(Order(id: 1))
    shop.place(Order(id: 2))

    withExtendedLifetime(orders) {}
    #expect(counts.all == ["orders": 2])
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

  /// A broker within one process.
  final class Topics: Broker {
    private let messages = BroadcastSource<(topic: String, bytes: Data)>()

    func publish(_ bytes: Data, to topic: String) async throws {
      messages.broadcast((topic, bytes))
    }

    func messages(of topic: String) -> AsyncStream<Data> {
      let (stream, input) = AsyncStream.makeStream(of: Data.self)
      let token = messages.publisher.filter { $0.topic == topic }.subscribe {
        input.yield($0.bytes)
      }
      input.onTermination = { _ in token.invalidate() }
      return stream
    }
  }

  @Test func `two processes are joined by two functions`() async throws {
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
}
