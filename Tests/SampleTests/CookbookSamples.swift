import Dispatch
import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import Observation
import TestSupport
import Testing

/// The samples of Cookbook.md.
@Suite(.light) struct CookbookSamples {
  struct SearchError: Error {}

  func results(
    of query: PublishedValue<String>, clock: any Clock<Duration> = ContinuousClock(),
    search: @escaping @Sendable (String) -> PublishedTask<[String], SearchError>
  ) -> PublishedValue<[String]> {
    query
      .debounce(for: .milliseconds(300), clock: clock)
      .broadcaster
      .flatMapLatest { text in text.isEmpty ? .success([]) : search(text) }
      .compactMap { try? $0.get() }
      .publishedValue(initial: [])
  }

  @Test func `a search runs after a pause and replaces the previous search`() {
    let clock = ManualClock()
    let query = PublishedProperty("")
    let searches = Shared<[TaskSource<[String], SearchError>]>([])
    let results = Recorder(
      results(of: query.publisher, clock: clock) { _ in
        let search = TaskSource<[String], SearchError>()
        searches.append(search)
        return search.publisher
      })

    query.value = "s"
    query.value = "sw"
    clock.advance(by: .milliseconds(300))
    #expect(searches.value.count == 1)
    query.value = "swift"
    clock.advance(by: .milliseconds(300))
    #expect(searches.value.map(\.subscriberCount) == [0, 1])
    searches.value[1].finish(.success(["swift!"]))
    query.value = "x"
    clock.advance(by: .milliseconds(300))
    searches.value[2].finish(.failure(SearchError()))
    query.value = ""
    clock.advance(by: .milliseconds(300))

    #expect(results.updates == [[], ["swift!"], []])
    #expect(searches.value.count == 3)
  }

  struct FetchError: Error, Equatable {}

  func status(
    clock: some Clock<Duration>,
    fetch: @escaping @Sendable () async throws(FetchError) -> String
  ) -> Broadcaster<Result<String, FetchError>> {
    clock.broadcaster(every: .seconds(30))
      .prepend(.zero)
      .flatMapLatest { _ in
        PublishedTask.retrying(
          times: 4, delay: .exponential(from: .seconds(1), upTo: .seconds(8), jitter: 1),
          clock: clock, fetch)
      }
      .share()
  }

  @Test func `a poll backs off, and every interval starts a poll`() async {
    let clock = ManualClock()
    let attempts = Shared(0)
    let status = status(clock: clock) { () async throws(FetchError) in
      attempts.increment()
      if attempts.value < 3 { throw FetchError() }
      return "attempt \(attempts.value)"
    }
    let recorders = [Recorder(status), Recorder(status)]

    // The timer is one sleeper, the delay of a retry another. Jitter makes the number of steps random, but the retries
    // wait for at most three seconds.
    var passed = Duration.zero
    while attempts.value < 3 {
      await until { clock.sleeperCount >= 2 || attempts.value >= 3 }
      await clock.advance(by: .seconds(1))
      passed += .seconds(1)
    }
    for recorder in recorders { #expect(await recorder.next() == [.success("attempt 3")]) }
    await clock.advance(by: .seconds(30) - passed)
    for recorder in recorders { #expect(await recorder.next() == [.success("attempt 4")]) }
  }

  struct Page: Sendable {
    let items: [String]
    let next: Int?
  }

  final class Feed: Sendable {
    struct State: Equatable, Sendable {
      var items: [String] = []
      var nextPage: Int? = 1
      var isLoading = false
    }

    private let source = PublishedProperty(State())
    private let load: @Sendable (Int) -> PublishedTask<Page, FetchError>
    private let bag = SubscriptionBag()
    var state: PublishedValue<State> { source.publisher }

    init(load: @escaping @Sendable (Int) -> PublishedTask<Page, FetchError>) {
      self.load = load
    }

    func loadMore() {
      guard let page = reservePage() else { return }
      load(page).subscribe { [source] result in
        guard case .success(let page) = result else { return }
        source.modify { state in
          state.items += page.items
          state.nextPage = page.next
        }
      } onEnd: { [source] in
        source.modify { $0.isLoading = false }
      }.store(in: bag)
    }

    private func reservePage() -> Int? {
      var page: Int?
      source.modifyIfChanged { state in
        if !state.isLoading { page = state.nextPage }
        if page != nil { state.isLoading = true }
        return page != nil
      }
      return page
    }
  }

  @Test func `a page is loaded once, in order, and again after a failure`() {
    let requests = Shared<[(page: Int, task: TaskSource<Page, FetchError>)]>([])
    let feed = Feed { page in
      let task = TaskSource<Page, FetchError>()
      requests.append((page, task))
      return task.publisher
    }

    onThreads(4) { _ in feed.loadMore() }
    #expect(requests.value.map(\.page) == [1])
    requests.value[0].task.finish(.failure(FetchError()))
    feed.loadMore()
    requests.value[1].task.finish(.success(Page(items: ["a", "b"], next: 2)))
    feed.loadMore()
    feed.loadMore()
    requests.value[2].task.finish(.success(Page(items: ["c"], next: nil)))
    feed.loadMore()

    #expect(requests.value.map(\.page) == [1, 1, 2])
    #expect(feed.state.current() == Feed.State(items: ["a", "b", "c"], nextPage: nil))
  }

  @Test func `releasing a feed cancels its request`() {
    let task = TaskSource<Page, FetchError>()
    var feed: Feed? = Feed { _ in task.publisher }
    feed?.loadMore()
    #expect(task.subscriberCount == 1)
    feed = nil
    #expect(task.subscriberCount == 0)
  }

  @MainActor
  @Observable
  final class FeedModel {
    let state: ObservedValue<Feed.State>
    private let feed: Feed

    init(_ feed: Feed) {
      self.feed = feed
      state = feed.state.observed()
    }

    func rowAppeared(_ item: String) {
      if item == state.value.items.last { feed.loadMore() }
    }

    func start() {
      if state.value.items.isEmpty { feed.loadMore() }
    }
  }

  @MainActor
  @Test func `the last row loads the next page`() {
    let model = FeedModel(
      Feed { page in .success(Page(items: ["\(page)a", "\(page)b"], next: page + 1)) })
    let changes = Paper()
    withObservationTracking {
      _ = model.state.value
    } onChange: {
      changes.print("changed")
    }

    model.start()
    #expect(changes.lines == ["changed"])
    model.rowAppeared("1a")
    #expect(model.state.value.items == ["1a", "1b"])
    model.rowAppeared("1b")
    #expect(model.state.value.items == ["1a", "1b", "2a", "2b"])
  }

  final class Socket: Sendable {
    let descriptor: Int32
    init(_ descriptor: Int32) { self.descriptor = descriptor }
    deinit { close(descriptor) }
  }

  func connections(to listener: Int32) -> Broadcaster<Socket> {
    .shared { receive in
      // The source is thread-safe, but its type is not `Sendable`.
      nonisolated(unsafe) let source = DispatchSource.makeReadSource(fileDescriptor: listener)
      unsafe source.setEventHandler {
        let connection = accept(listener, nil, nil)
        if connection >= 0 { receive(Socket(connection)) }
      }
      unsafe source.setCancelHandler { close(listener) }
      unsafe source.activate()
      return Subscription {
        // The port is free immediately, not only after the cancel handler.
        shutdown(listener, Int32(SHUT_RDWR))
        unsafe source.cancel()
      }
    }
  }

  func serve(
    _ connections: Broadcaster<Socket>, until stop: PublishedTask<Int32, Never>,
    handle: @escaping @Sendable (Socket) async -> Void
  ) async {
    let accepted = connections.prefix(until: stop.broadcaster).values(.unbounded)
    await withDiscardingTaskGroup { group in
      for await connection in accepted {
        group.addTask { await handle(connection) }
      }
    }
  }

  @Test func `a stopped accept loop refuses clients and finishes its connections`() async throws {
    let listener = try LocalSocket.listen()
    let port = try LocalSocket.port(of: listener)
    let stop = TaskSource<Int32, Never>()
    let handled = BroadcastSource<String>()
    let events = Recorder(handled.publisher)
    let connections = connections(to: listener)
    let server = Task {
      await serve(connections, until: stop.publisher) { connection in
        handled.broadcast("connected")
        let bytes = DispatchSource.reads(from: connection.descriptor)
        let byte = await bytes.first().result
        handled.broadcast(byte == .success(.success(Data("x".utf8))) ? "read x" : "\(byte as Any)")
      }
      handled.broadcast("stopped")
    }

    let client = Socket(try LocalSocket.connect(to: port))
    #expect(await events.next() == ["connected"])
    stop.finish(.success(SIGTERM))
    await until { (try? Socket(LocalSocket.connect(to: port))) == nil }
    #expect(events.updates == ["connected"])
    let written = unsafe write(client.descriptor, "x", 1)
    #expect(written == 1)
    #expect(await events.next(2) == ["read x", "stopped"])
    await server.value
  }

  final class Picture: Sendable {
    let name: String
    init(_ name: String) { self.name = name }
  }

  final class CacheEvents: NSObject, NSCacheDelegate, Sendable {
    private let source = BroadcastSource<String>(name: "evictions")
    var evictions: Broadcaster<String> { source.publisher }

    func cache(_ cache: NSCache<AnyObject, AnyObject>, willEvictObject object: Any) {
      if let picture = object as? Picture { source.broadcast(picture.name) }
    }
  }

  @Test func `a delegate becomes a broadcaster`() {
    let cache = NSCache<NSString, Picture>()
    let events = CacheEvents()
    cache.delegate = events
    cache.countLimit = 1
    let evictions = Recorder(events.evictions)

    cache.setObject(Picture("sea"), forKey: "sea")
    cache.setObject(Picture("hill"), forKey: "hill")

    // The cache chooses the object that it evicts.
    #expect(evictions.updates.count == 1)
    withExtendedLifetime(events) {}
  }

  func chunks(of handle: FileHandle) -> Broadcaster<Data> {
    .shared { receive in
      handle.readabilityHandler = { handle in
        let data = handle.availableData
        if data.isEmpty { handle.readabilityHandler = nil } else { receive(data) }
      }
      return Subscription { handle.readabilityHandler = nil }
    }
  }

  // It is never closed, because the end of a pipe can make Dispatch crash on Linux.
  private static let pipe = Pipe()

  @Test func `a stream API starts with its first subscriber`() async throws {
    let (handle, writing) = (Self.pipe.fileHandleForReading, Self.pipe.fileHandleForWriting)
    let chunks = chunks(of: handle)
    #expect(handle.readabilityHandler == nil)
    let recorders = [Recorder(chunks), Recorder(chunks)]

    try writing.write(contentsOf: Data("one".utf8))
    for recorder in recorders { #expect(await recorder.next() == [Data("one".utf8)]) }
    for recorder in recorders { recorder.invalidate() }
    // If the handler is still running, it ends the work when it returns.
    await until { handle.readabilityHandler == nil }
    #expect(handle.readabilityHandler == nil)
  }

  func send(
    _ status: PublishedValue<String>, beats: PublishedValue<Duration>,
    to write: (String) async throws -> Void
  ) async throws {
    var sent: String?
    for await (status, _) in combineLatest(status, beats).values(.bufferingNewest(1)) {
      try await write(status == sent ? ": keep-alive\n\n" : "data: \(status)\n\n")
      sent = status
    }
  }

  @Test func `a slow client receives the latest status and keep-alives`() async throws {
    let clock = ManualClock()
    let stop = BroadcastSource<Void>()
    let status = PublishedProperty("starting")

    let beats = clock.broadcaster(every: .seconds(15))
      .prefix(until: stop.publisher)
      .publishedValue(initial: .zero)

    let lines = Paper()
    try await send(status.publisher, beats: beats) { line in
      switch lines.lines.count {
      case 0:
        status.value = "warm"
        status.value = "ready"
        await clock.advance(by: .seconds(15))
      case 1:
        await clock.advance(by: .seconds(15))
      default:
        stop.broadcast(())
        status.end()
      }
      lines.print(line)
    }
    #expect(lines.lines == ["data: starting\n\n", "data: ready\n\n", ": keep-alive\n\n"])
  }

  final class Health: Sendable {
    let isReady: PublishedValue<Bool>

    init(
      isConnected: PublishedValue<Bool>, queueDepth: PublishedValue<Int>,
      isStopping: PublishedValue<Bool>
    ) {
      isReady = combineLatest(isConnected, queueDepth, isStopping) { connected, depth, stopping in
        connected && depth < 1_000 && !stopping
      }
    }

    func readiness() -> (status: Int, body: String) {
      isReady.current() == true ? (200, "ready\n") : (503, "not ready\n")
    }
  }

  @Test func `readiness combines the state of the dependencies`() async {
    let isConnected = PublishedProperty(false)
    let queueDepth = PublishedProperty(0)
    let isStopping = PublishedProperty(false)
    let health = Health(
      isConnected: isConnected.publisher, queueDepth: queueDepth.publisher,
      isStopping: isStopping.publisher)
    let transitions = Recorder(health.isReady)

    #expect(health.readiness() == (503, "not ready\n"))
    isConnected.value = true
    _ = await health.isReady.first { $0 }.result
    #expect(health.readiness() == (200, "ready\n"))
    queueDepth.value = 10
    queueDepth.value = 1_000
    #expect(health.readiness().status == 503)
    queueDepth.value = 0
    isStopping.value = true

    #expect(transitions.updates == [false, true, false, true, false])
  }

  /// A type with the methods of swift-log's `Logger` that the sample uses.
  struct Logger: Sendable {
    typealias Message = String
    typealias Metadata = [String: String]
    let write: @Sendable (String) -> Void

    func warning(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata?) {
      log("warning", message(), metadata())
    }

    func error(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata?) {
      log("error", message(), metadata())
    }

    func debug(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata?) {
      log("debug", message(), metadata())
    }

    private func log(_ level: String, _ message: Message, _ metadata: Metadata?) {
      write("\(level) source=\(metadata?["source"] ?? "-") \(message)")
    }
  }

  struct LoggingInstrument: Instrument {
    let logger: Logger

    func record(_ event: InstrumentEvent) {
      var metadata: Logger.Metadata = ["source": "\(event.source)"]
      if let operation = event.operation { metadata["operator"] = "\(operation)" }
      switch event.kind {
      case .dropped(let count): logger.warning("\(count) dropped", metadata: metadata)
      case .backlog(let depth): logger.warning("\(depth) queued", metadata: metadata)
      case .failed(let error): logger.error("an effect failed: \(error)", metadata: metadata)
      case .sourceFinished: logger.debug("finished", metadata: metadata)
      case .subscribed, .unsubscribed, .delivered: break
      }
    }
  }

  @Test func `an instrument logs dropped updates`() {
    let paper = Paper()
    let logger = Logger(write: paper.print)
    let orders = withInstrument(LoggingInstrument(logger: logger)) {
      BroadcastSource<Int>(name: "orders")
    }
    let values = orders.publisher.values(.bufferingNewest(1))
    orders.broadcast(1)
    orders.broadcast(2)
    orders.end()

    withExtendedLifetime(values) {}
    #expect(
      paper.lines == ["warning source=orders 1 dropped", "debug source=orders finished"])
  }
}

/// Sockets of the loopback interface.
private enum LocalSocket {
  /// A listening socket on a free port, which does not block.
  static func listen() throws(POSIXError) -> Int32 {
    let descriptor = try open()
    var address = address(port: 0)
    try check(
      unsafe withUnsafePointer(to: &address) {
        unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      })
    try check(fcntl(descriptor, F_SETFL, O_NONBLOCK))
    try check(Foundation.listen(descriptor, 16))
    return descriptor
  }

  static func port(of descriptor: Int32) throws(POSIXError) -> UInt16 {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    try check(
      unsafe withUnsafeMutablePointer(to: &address) {
        unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe getsockname(descriptor, $0, &size)
        }
      })
    return UInt16(bigEndian: address.sin_port)
  }

  static func connect(to port: UInt16) throws(POSIXError) -> Int32 {
    let descriptor = try open()
    var address = address(port: port)
    let result = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    do throws(POSIXError) {
      try check(result)
    } catch {
      close(descriptor)
      throw error
    }
    return descriptor
  }

  private static func open() throws(POSIXError) -> Int32 {
    // SOCK_STREAM, whose type differs between platforms.
    let descriptor = socket(AF_INET, 1, 0)
    try check(descriptor)
    return descriptor
  }

  private static func address(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  private static func check(_ result: Int32) throws(POSIXError) {
    if result < 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }
}
