#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

/// Limits of a server, invalid names, and streams without a leader.
@Suite(.heavy)
struct StreamLimitsTests {
  @Test func `N8 a reader keeps to the server's limit of unacknowledged messages`() async throws {
    let server = try await NATSServer.keeping(limits: "limits { max_ack_pending: 7 }")
    let nats = NATSConnection(server.url)
    let diagnostics = Recorder(nats.diagnostics)
    let stream = nats.stream("board")
    #expect(await stream.create().hasSucceeded())
    for number in 1...100 { #expect(await stream.append(number).hasSucceeded()) }

    let reader = Recorder(stream.broadcaster(of: Int.self, from: .beginning))
    let worker = Recorder(stream.work(of: Int.self, durable: "billing")) { $0.ack() }

    #expect(await holds(within: .seconds(10), reader.updates.count == 100))
    #expect(await holds(within: .seconds(10), worker.updates.count == 100))
    #expect(diagnostics.updates == [])
    await nats.close()
  }

  @Test func `N8 an append without a leader does not fail with noStream`() async throws {
    let cluster = try await Cluster()
    let nats = NATSConnection(cluster.urls)
    let stream = nats.stream("board")
    var options = NATSStreamOptions()
    options.replicas = 3
    #expect(await holds(within: .seconds(60), await stream.create(options).hasSucceeded()))
    #expect(await stream.append(1).hasSucceeded())
    await cluster.servers[0].stop()
    await cluster.servers[1].stop()
    await nats.isEventually(.connected)

    var errors: Set<NATSError> = []
    let end = ContinuousClock.now + .seconds(15)
    while ContinuousClock.now < end {
      if case .failure(let error)? = await stream.append(2, timeout: .seconds(1)).result {
        errors.insert(error)
      }
    }
    print("without a leader:", errors)
    #expect(!errors.contains(.noStream("board")))

    try await cluster.servers[0].start()
    try await cluster.servers[1].start()
    #expect(await holds(within: .seconds(60), await stream.append(3).hasSucceeded()))
    await nats.close()
  }

  @Test(arguments: ["a.b", "", "a b", "*", "a>", "a/b"])
  func `N9 an invalid name fails immediately`(_ name: String) async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    await nats.isEventually(.connected)
    let stream = nats.stream(name)

    #expect(await stream.create().error == .invalidSubject(name))
    #expect(await stream.remove().error == .invalidSubject(name))
    #expect(await stream.purge().error == .invalidSubject(name))
    #expect(await stream.append(1, on: "jobs").result == .failure(.invalidSubject(name)))
    #expect(await nats.bucket(name).create().error == .invalidSubject(name))
    #expect(await nats.bucket(name).put(1, for: "key").result == .failure(.invalidSubject(name)))
    await nats.close()
  }

  @Test func `N8 an append to a subject of another stream fails`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("board")
    #expect(await stream.create().hasSucceeded())
    #expect(await nats.stream("other").create().hasSucceeded())

    #expect(await stream.append(1, on: "other").result == .failure(.invalidSubject("other")))
    #expect(await stream.append(1, on: "none").result == .failure(.invalidSubject("none")))
    #expect(await stream.append(1, on: "board.a").result == .success(1))
    await nats.close()
  }

  @Test func `N8 expecting 0 appends to a purged stream`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("board")
    #expect(await stream.create().hasSucceeded())
    for number in 1...3 { #expect(await stream.append(number).hasSucceeded()) }
    #expect(await stream.append(4, expecting: 0).result == .failure(.revision(3)))
    #expect(await stream.purge().hasSucceeded())

    #expect(await stream.append(4, expecting: 0).result == .success(4))
    #expect(await stream.append(5, expecting: 0).result == .failure(.revision(4)))
    await nats.close()
  }

  @Test func `the duplicate window is two minutes, or the maximum age if that is shorter`()
    async throws
  {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    for (maxAge, window) in [(nil, 120), (.seconds(30), 30)] as [(Duration?, Int)] {
      var options = NATSStreamOptions()
      options.maxAge = maxAge
      let stream = nats.stream("window-\(window)")
      #expect(await stream.create(options).hasSucceeded())
      #expect(await stream.duplicateWindow().result == .success(.seconds(window)))
    }
    var options = NATSStreamOptions()
    (options.maxAge, options.duplicateWindow) = (.seconds(30), .seconds(31))
    guard case .failure(.invalidOptions)? = await nats.stream("longer").create(options).result
    else {
      Issue.record("A window longer than the maximum age was accepted.")
      return
    }
    await nats.close()
  }
}

extension Publisher where Kind == TaskKind, Update == Result<Void, NATSError> {
  /// The error, if the task fails.
  fileprivate var error: NATSError? {
    get async {
      if case .failure(let error)? = await result { error } else { nil }
    }
  }
}
#endif
