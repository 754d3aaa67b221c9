#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct OrderTests {
  @Test func `N1 messages of one publisher reach each subscriber in order`() async throws {
    let server = try await NATSServer()
    let (sender, receiver) = (NATSConnection(server.url), NATSConnection(server.url))
    let first = Recorder(receiver.broadcaster(of: Int.self, on: "numbers"))
    let second = Recorder(receiver.broadcaster(of: Int.self, on: "numbers"))
    try await receiver.areSubscribed()

    for number in 0..<20_000 { try sender.publish(number, on: "numbers") }

    #expect(await first.next(20_000).map(\.payload) == Array(0..<20_000))
    #expect(await second.next(20_000).map(\.payload) == Array(0..<20_000))
    await sender.close()
    await receiver.close()
  }

  @Test func `N1 each message is delivered in a separate turn`() async throws {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let messages = nats.broadcaster(of: Int.self, on: "numbers")
    let seen = Shared<[String]>([])
    let first = messages.subscribe { seen.append("a\($0.payload)") }
    let second = Recorder(messages) { seen.append("b\($0.payload)") }
    try await nats.areSubscribed()

    for number in 0..<3 { try nats.publish(number, on: "numbers") }

    await until { seen.value.count == 6 }
    #expect(seen.value == ["a0", "b0", "a1", "b1", "a2", "b2"])
    withExtendedLifetime((first, second)) {}
    await nats.close()
  }

  @Test func `R30 publishers derived from one broadcaster update together`() async throws {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let numbers = nats.broadcaster(of: Int.self, on: "numbers")
    let pairs = Recorder(
      combineLatest(
        numbers.map(\.payload).publishedValue(initial: 0),
        numbers.map { -$0.payload }.publishedValue(initial: 0)
      ) { [$0, $1] })
    try await nats.areSubscribed()

    for number in 1...1_000 { try nats.publish(number, on: "numbers") }

    #expect(await pairs.next(1_001) == (0...1_000).map { [$0, -$0] })
    await nats.close()
  }

  @Test func `N1 messages published before connecting keep their order`() async throws {
    let server = try await NATSServer()
    await server.stop()
    let nats = NATSConnection(server.url)
    let recorder = Recorder(nats.broadcaster(of: Int.self, on: "numbers"))
    for number in 0..<1_000 { try nats.publish(number, on: "numbers") }

    try await server.start()

    #expect(await recorder.next(1_000).map(\.payload) == Array(0..<1_000))
    await nats.close()
  }

  @Test func `N1 a queue group shares the messages`() async throws {
    let server = try await NATSServer()
    let (one, two) = (NATSConnection(server.url), NATSConnection(server.url))
    let all = Recorder(one.broadcaster(of: Int.self, on: "jobs"))
    let done = BroadcastSource<Int>()
    let recorder = Recorder(done.publisher)
    let workers = [one, two].map { nats in
      nats.broadcaster(of: Int.self, on: "jobs", queue: "workers").subscribe {
        done.broadcast($0.payload)
      }
    }
    try await one.areSubscribed()
    try await two.areSubscribed()

    for number in 0..<1_000 { try one.publish(number, on: "jobs") }

    #expect(await recorder.next(1_000).sorted() == Array(0..<1_000))
    #expect(await all.next(1_000).map(\.payload) == Array(0..<1_000))
    #expect(recorder.updates.count == 1_000)
    withExtendedLifetime(workers) {}
    await one.close()
    await two.close()
  }

  @Test func `data and text are sent unchanged, and other payloads as JSON`() async throws {
    struct Order: Codable, Equatable { var number: Int }
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let raw = Recorder(nats.broadcaster(of: Data.self, on: "payloads.>"))
    let text = Recorder(nats.broadcaster(of: String.self, on: "payloads.text"))
    let order = Recorder(nats.broadcaster(of: Order.self, on: "payloads.order"))
    let word = Recorder(nats.broadcaster(of: Word.self, on: "payloads.word"))

    try nats.publish(Data([0, 255, 10]), on: "payloads.data")
    try nats.publish("grüße", on: "payloads.text", headers: ["Trace": "4711", "To": "all of you"])
    try nats.publish(Order(number: 7), on: "payloads.order", replySubject: "answers")
    try nats.publish(Word(text: "abc"), on: "payloads.word")
    try nats.publish(Data(), on: "payloads.nothing")

    let bytes = await raw.next(5)
    #expect(
      bytes.map(\.payload)
        == [
          Data([0, 255, 10]), Data("grüße".utf8), Data(#"{"number":7}"#.utf8), Data("cba".utf8),
          Data(),
        ])
    #expect(bytes.map(\.subject).first == "payloads.data")
    #expect(await text.next().first?.payload == "grüße")
    #expect(text.updates.first?.headers["Trace"] == "4711")
    #expect(text.updates.first?.headers["To"] == "all of you")
    #expect(await order.next().first?.payload == Order(number: 7))
    #expect(order.updates.first?.replySubject == "answers")
    #expect(await word.next().first?.payload.text == "abc")
    await nats.close()
  }
}

/// A payload that is sent in reverse.
private struct Word: NATSPayload {
  var text: String

  init(text: String) { self.text = text }

  init(natsPayload: Data) throws {
    text = String(String(decoding: natsPayload, as: UTF8.self).reversed())
  }

  func natsPayload() throws -> Data { Data(String(text.reversed()).utf8) }
}
#endif
