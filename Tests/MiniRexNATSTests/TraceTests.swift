#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct TraceTests {
  private static var options: NATSOptions {
    var options = NATSOptions()
    options.propagation = .w3c
    return options
  }

  @Test func `N11 trace context crosses the wire`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url, options: Self.options)
    let (stream, bucket) = (nats.stream("board"), nats.bucket("config"))
    #expect(await stream.create().hasSucceeded())
    #expect(await bucket.create().hasSucceeded())
    let root = try #require(
      TraceContext(
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        tracestate: "vendor=1,other=2"))
    let subjects = Recorder(
      nats.broadcaster(of: String.self, on: "subject").map { ($0.headers, TraceContext.current) })
    let messages = Recorder(
      stream.broadcaster(of: String.self, from: .beginning).map {
        ($0.headers, TraceContext.current)
      })
    let jobs = Recorder(
      stream.work(of: String.self, durable: "worker").map { ($0.headers, TraceContext.current) })
    let handled = BroadcastSource<TraceContext?>()
    let contexts = Recorder(handled.publisher)
    let service = nats.reply(on: "service") { (text: String) in
      handled.broadcast(TraceContext.current)
      return PublishedTask<String, Never> { TraceContext.current?.traceID ?? "none" }
    }
    let watched = Recorder(
      nats.stream("KV_config").broadcaster(of: String.self, from: .beginning).map {
        ($0.headers, TraceContext.current)
      })
    try await nats.areSubscribed()

    let (answer, appended, written) = try TraceContext.$current.withValue(root) {
      try nats.publish("", on: "subject")
      return (
        nats.request(String.self, "", on: "service", timeout: .seconds(600)),
        stream.append("", timeout: .seconds(600)), bucket.put("", for: "key")
      )
    }
    // The tasks start here, outside of the trace.
    #expect(await answer.result == .success(root.traceID))
    #expect(await appended.hasSucceeded())
    #expect(await written.hasSucceeded())

    var received = await subjects.next() + messages.next()
    received += await jobs.next() + watched.next()
    for (headers, context) in received {
      #expect(headers["traceparent"] == root.traceparent)
      #expect(headers["tracestate"] == "vendor=1,other=2")
      #expect(context?.traceID == root.traceID)
      #expect(context?.parentID != root.parentID)
      #expect(context?.flags == 1 && context?.state == "vendor=1,other=2")
    }
    #expect(received.count == 4)
    #expect(await contexts.next().first??.traceID == root.traceID)
    service.invalidate()
    await nats.close()
  }

  /// The senders contend for one source, so most of their updates are delivered by another sender's thread.
  @Test func `N11 a trace reaches another process and stays with its sender`() async throws {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url, options: Self.options)
    let guest = try Guest("trace", server.url)
    let seen = Recorder(nats.broadcaster(of: String.self, on: "seen").map(\.payload))
    try await nats.areSubscribed()
    await until(
      await nats.request(String.self, "", on: "traced", timeout: .seconds(60)).result
        == .success("none"))
    let source = BroadcastSource<String>()
    let publishing = source.publisher.publish(to: nats, on: "updates")
    let roots = (0..<8).map { _ in TraceContext.root() }
    let count = scaled(500)
    let answers = Shared<[(sent: String, Recorder<Result<String, NATSError>>)]>([])

    await onQueue {
      onThreads(roots.count) { number in
        let root = roots[number]
        for index in 0..<count {
          TraceContext.$current.withValue(root) {
            source.broadcast(root.traceID)
            if index % 10 > 0 { return }
            let answer = nats.request(
              String.self, "", on: "traced", timeout: .seconds(600))
            answers.append((root.traceID, Recorder(answer)))
          }
        }
        #expect(TraceContext.current == nil)
      }
    }
    await source.delivered()

    let messages = await seen.next(roots.count * count)
    let wrong = messages.filter { Set($0.split(separator: " ")).count != 1 }
    #expect(wrong == [])
    for root in roots {
      #expect(messages.count { $0.hasPrefix(root.traceID) } == count)
    }
    for (sent, recorder) in answers.value { #expect(await recorder.next() == [.success(sent)]) }
    withExtendedLifetime((guest, publishing)) {}
    await nats.close()
  }

  @Test func `N11 without a context, or with an invalid header, a callback has none`() async throws
  {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url, options: Self.options)
    let contexts = Recorder(
      nats.broadcaster(of: String.self, on: "subject").map { _ in TraceContext.current })
    try await nats.areSubscribed()

    try nats.publish("", on: "subject")
    try nats.publish("", on: "subject", headers: ["traceparent": "00-zz-11-01"])
    let parent = TraceContext.root()
    try nats.publish("", on: "subject", headers: ["traceparent": parent.traceparent])

    #expect(await contexts.next(3).map { $0?.traceID } == [nil, nil, parent.traceID])
    await nats.close()
  }

  @Test(arguments: [
    ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", true),
    ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-later", true),
    ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-later", false),
    ("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false),
    ("00-00000000000000000000000000000000-b7ad6b7169203331-01", false),
    ("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", false),
    ("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", false),
    ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", false), ("", false),
    ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0g", false),
  ])
  func `N11 only a valid traceparent is a context`(_ text: String, _ isValid: Bool) {
    #expect((TraceContext(traceparent: text) != nil) == isValid)
  }

  @Test func `N11 a root and its children have the same trace and different parents`() {
    let root = TraceContext.root(isSampled: false)
    let child = root.child()

    #expect(TraceContext(traceparent: root.traceparent) == root)
    #expect(child.traceID == root.traceID && child.parentID != root.parentID)
    #expect(root.traceparent.hasSuffix("-00"))
  }

  private enum Baggage {
    @TaskLocal static var value = ""
  }

  @Test func `N11 a propagation transports any context`() async throws {
    let server = try await NATSServer()
    var options = NATSOptions()
    options.propagation = NATSPropagation { headers in
      if !Baggage.value.isEmpty { headers["Baggage"] = Baggage.value }
    } extract: { headers, run in
      Baggage.$value.withValue(headers["Baggage"] ?? "none", operation: run)
    }
    let nats = NATSConnection(server.url, options: options)
    let values = Recorder(
      nats.broadcaster(of: String.self, on: "subject").map { _ in Baggage.value })
    try await nats.areSubscribed()

    try Baggage.$value.withValue("user=1") { try nats.publish("", on: "subject") }
    try nats.publish("", on: "subject")

    #expect(await values.next(2) == ["user=1", "none"])
    await nats.close()
  }
}
#endif
