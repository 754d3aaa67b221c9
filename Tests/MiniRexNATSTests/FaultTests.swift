#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

/// Faults of machines: one is killed, one is suspended, a disk is full.
@Suite(.heavy)
struct FaultTests {
  @Test func `N8 a stream on three servers continues in order after its leader is killed`()
    async throws
  {
    let cluster = try await Cluster()
    let nats = NATSConnection(cluster.urls)
    let stream = nats.stream("board")
    var options = NATSStreamOptions()
    options.replicas = 3
    // No server can create the stream before the cluster has a leader.
    await until(await stream.create(options).result.isSuccess())
    let recorder = Recorder(stream.broadcaster(of: Int.self, from: .beginning))
    let count = max(300, scaled(1_000))
    async let written: Void = stream.appendAll(count)

    await until { recorder.updates.count > count / 4 }
    let leader = try #require(await nats.leader(of: stream))
    await cluster.servers[leader].stop()
    await until { recorder.updates.count > count / 2 }
    try await cluster.servers[leader].start()

    await written
    #expect(await recorder.next(count).map(\.payload) == Array(1...count))
    #expect(recorder.updates.map(\.sequence) == (1...UInt64(count)).map { $0 })
    #expect(recorder.updates.allSatisfy { $0.missing == nil })
    await nats.close()
  }

  @Test func `N4 a server suspended for ten seconds is reported, and no message is lost`()
    async throws
  {
    let server = try await NATSServer.keeping()
    var options = NATSOptions()
    options.pingInterval = .milliseconds(500)
    let nats = NATSConnection(server.url, options: options)
    let stream = nats.stream("board")
    #expect(await stream.create().hasSucceeded())
    let events = Recorder(stream.broadcaster(of: Int.self, from: .beginning))
    let numbers = Recorder(nats.broadcaster(of: Int.self, on: "numbers"))
    let began = ContinuousClock.now
    #expect(await stream.append(1).hasSucceeded())
    #expect(await events.next().first?.payload == 1)

    server.send(SIGSTOP)
    await nats.isEventually(.reconnecting)
    for number in 0..<1_000 { try nats.publish(number, on: "numbers") }
    let waiting = stream.append(2, id: "two", timeout: .milliseconds(100))
    guard case .failure(let error)? = await waiting.result,
      error == .timedOut || error == .disconnected
    else {
      Issue.record("the append to a suspended server did not fail")
      return
    }
    try await Task.sleep(until: began + .seconds(10), clock: .continuous)
    server.send(SIGCONT)

    #expect(await numbers.next(1_000).map(\.payload) == Array(0..<1_000))
    // The message may be in the stream by now. The `id` prevents a second copy.
    await until(await stream.append(2, id: "two").result.isSuccess())
    #expect(await stream.append(3).result == .success(3))
    #expect(await events.next(2).map(\.payload) == [2, 3])
    await nats.close()
  }

  @Test(arguments: ["max_file_store: 65536", ""])
  func `N8 an append to a full disk fails with a typed error`(_ limits: String)
    async throws
  {
    let server = try await NATSServer.keeping(limits: limits)
    let nats = NATSConnection(server.url)
    let stream = nats.stream("board")
    var options = NATSStreamOptions()
    if limits.isEmpty {
      options.maxBytes = 65_536
      options.discardPolicy = .new
    }
    #expect(await stream.create(options).hasSucceeded())
    let recorder = Recorder(stream.broadcaster(of: Data.self, from: .beginning))
    let payload = Data(count: 4_096)
    var (count, refusal) = (0, NATSError?.none)
    while refusal == nil, count < 100 {
      switch await stream.append(payload).result {
      case .success?: count += 1
      case .failure(let error)?: refusal = error
      case nil: break
      }
    }

    guard case .jetStream? = refusal else {
      Issue.record("\(refusal as Any)")
      return
    }
    #expect(await recorder.next(count).count == count)
    #expect(await stream.purge().hasSucceeded())
    await until(await stream.append(payload).result.isSuccess())
    #expect(await recorder.next().first?.sequence == UInt64(count + 1))
    await nats.close()
  }
}

extension Optional {
  fileprivate func isSuccess<Success>() -> Bool where Wrapped == Result<Success, NATSError> {
    if case .success? = self { true } else { false }
  }
}

extension NATSStream {
  /// Appends the numbers from 1, each once.
  ///
  /// After a failure it reads the last sequence of the stream.
  fileprivate func appendAll(_ count: Int) async {
    var last = 0
    while last < count, !Task.isCancelled {
      switch await append(last + 1, expecting: UInt64(last), timeout: .seconds(1)).result {
      case .success(let sequence)?: last = Int(sequence)
      case .failure(.revision(let now?))?: last = Int(now)
      default: try? await Task.sleep(for: .milliseconds(10))
      }
    }
  }
}
#endif
