#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct PipelineTests {
  @Test(arguments: [1, 7, 5_000])
  func `N18 appends can be pipelined`(_ window: Int) async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("board")
    #expect(await stream.create().hasSucceeded())
    let count = window == 1 ? 200 : 3_000

    let recorder = Recorder(
      stream.append(contentsOf: Array(1...count), window: window, timeout: .seconds(300)))
    let (progress, result) = await recorder.all()

    #expect(progress.last == count && progress == progress.sorted())
    #expect(result == .success((1...UInt64(count)).map { $0 }))
    let messages = Recorder(stream.broadcaster(of: Int.self, from: .beginning))
    #expect(await messages.next(count).map(\.payload) == Array(1...count))
    #expect(await stream.append(contentsOf: [Int]()).result == .success([]))
    await nats.close()
  }

  @Test func `N18 a pipeline sends no more than its window without an answer`() async throws {
    // The test answers instead of JetStream.
    let server = try await NATSServer()
    let (nats, answering) = (NATSConnection(server.url), NATSConnection(server.url))
    let received = Recorder(answering.broadcaster(of: String.self, on: "board"))
    try await answering.areSubscribed()

    let recorder = Recorder(
      nats.stream("board").append(
        contentsOf: Array(1...100), window: 8, timeout: .seconds(600)))
    // The server passes the messages of one connection on in their order.
    try nats.publish("end", on: "board")
    let first = await received.next(9)
    #expect(first.map(\.payload) == (1...8).map { "\($0)" } + ["end"])

    var pending = first.compactMap(\.replySubject)[...]
    for number in 1...100 {
      guard let replySubject = pending.popFirst() else { break }
      try answering.publish(#"{"stream":"board","seq":\#(number)}"#, on: replySubject)
      if number > 92 { continue }
      let next = await received.next()
      #expect(next.map(\.payload) == ["\(number + 8)"])
      pending += next.compactMap(\.replySubject)
    }
    #expect(await recorder.all().result == .success((1...100).map { $0 }))
    await nats.close()
    await answering.close()
  }

  @Test func `N18 a pipeline fails if a message has no answer in time`() async throws {
    // The test answers instead of JetStream, except for one message.
    let server = try await NATSServer()
    let (nats, answering) = (NATSConnection(server.url), NATSConnection(server.url))
    let answers = answering.broadcaster(of: Int.self, on: "board").subscribe { message in
      guard message.payload != 2, let replySubject = message.replySubject else { return }
      try? answering.publish(
        #"{"stream":"board","seq":\#(message.payload)}"#, on: replySubject)
    }
    try await answering.areSubscribed()

    let recorder = Recorder(
      nats.stream("board").append(
        contentsOf: Array(1...100), window: 8, timeout: .milliseconds(200)))

    let (progress, result) = await recorder.all()
    #expect(result == .failure(.timedOut) && (progress.last ?? 0) < 100)
    answers.invalidate()
    await nats.close()
    await answering.close()
  }

  @Test func `N18 a pipeline suspends its source at the window and reports each refusal`()
    async throws
  {
    let server = try await NATSServer()
    let (nats, answering) = (NATSConnection(server.url), NATSConnection(server.url))
    let received = Recorder(answering.broadcaster(of: String.self, on: "board"))
    try await answering.areSubscribed()
    let diagnostics = Recorder(nats.diagnostics)
    let source = BroadcastSource<Int>()
    let appending = source.publisher.append(
      to: nats.stream("board"), window: 8, timeout: .seconds(600))

    let sending = Task { for number in 1...100 { try await source.send(number) } }
    await until { source.slowSubscribers.count == 1 }
    try nats.publish("end", on: "board")
    let first = await received.next(9)
    #expect(first.map(\.payload) == (1...8).map { "\($0)" } + ["end"])

    var pending = first.compactMap(\.replySubject)[...]
    for number in 1...100 {
      guard let replySubject = pending.popFirst() else { break }
      let refusal = #"{"error":{"code":503,"err_code":10077,"description":"full"}}"#
      try answering.publish(
        number % 50 == 0 ? refusal : #"{"stream":"board","seq":\#(number)}"#, on: replySubject)
      if number > 92 { continue }
      let next = await received.next()
      #expect(next.map(\.payload) == ["\(number + 8)"])
      pending += next.compactMap(\.replySubject)
    }
    try await sending.value
    let refused = NATSDiagnostic.notSent(
      subject: "board", .jetStream(code: 10_077, message: "full"))
    await until { diagnostics.updates.count { $0 == refused } == 2 }
    appending.invalidate()
    await nats.close()
    await answering.close()
  }

  @Test func `N18 a source appends to a stream in order`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("board")
    #expect(await stream.create().hasSucceeded())
    let source = BroadcastSource<Int>()
    let appending = source.publisher.append(to: stream, window: 64, timeout: .seconds(600))

    for number in 1...1_000 { try await source.send(number) }

    let messages = Recorder(stream.broadcaster(of: Int.self, from: .beginning))
    #expect(await messages.next(1_000).map(\.payload) == Array(1...1_000))
    appending.invalidate()
    source.broadcast(0)
    #expect(await stream.append(1_001).hasSucceeded())
    #expect(await messages.next().map(\.payload) == [1_001])
    await nats.close()
  }

  @Test func `N18 the first refusal fails the pipeline`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("board")
    var options = NATSStreamOptions()
    (options.maxMessages, options.discardPolicy) = (10, .new)
    #expect(await stream.create(options).hasSucceeded())

    let result = await stream.append(contentsOf: Array(1...1_000), window: 4).result

    guard case .failure(.jetStream(10_077, _))? = result else {
      Issue.record("\(result as Any)")
      return
    }
    #expect(await nats.stream("absent").append(contentsOf: [1]).result?.isFailure == true)
    await nats.close()
  }

  @Test func `N18 canceling a pipeline stops it`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("board")
    #expect(await stream.create().hasSucceeded())
    let hasCome = DispatchSemaphore(value: 0)

    let token = stream.append(contentsOf: Array(1...1_000_000), window: 8).subscribe { update in
      if case .progress(let count) = update, count >= 10 { hasCome.signal() }
    }
    await hasCome.isSignalled()
    token.invalidate()

    guard case .success(let next)? = await stream.append(0).result else {
      Issue.record("no sequence")
      return
    }
    #expect(next < 1_000_000)
    // Nothing follows except the messages in flight.
    try await Task.sleep(for: .milliseconds(200))
    guard case .success(let last)? = await stream.append(0).result else {
      Issue.record("no sequence")
      return
    }
    #expect(last - next <= 9)
    await nats.close()
  }
}

extension Result {
  fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }
}
#endif
