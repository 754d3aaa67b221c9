#if NATS
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct BackpressureTests {
  /// Returns the number of messages that the server has sent to the consumer of the stream.
  ///
  /// They have arrived, because the reply follows them.
  private func sent(_ stream: NATSStream, over nats: NATSConnection) async -> Int {
    let delivered = await nats.consumers(of: stream).split(separator: "\"delivered\":").last
    return delivered.flatMap { String($0).values(of: "consumer_seq").first }.flatMap { Int($0) }
      ?? 0
  }

  private func fill(_ stream: NATSStream, _ count: Int) async {
    #expect(await stream.create().hasSucceeded())
    for number in 0..<count { #expect(await stream.append(number).hasSucceeded()) }
  }

  @Test(arguments: [1, 2, 3, 64])
  func `F20 a NATS stream keeps at most n messages ahead`(_ limit: Int) async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("board")
    await fill(stream, 300)
    let values = stream.broadcaster(of: Int.self, from: .beginning).values(.suspending(limit))
    await until(values.bufferedCount >= max(1, limit / 2))
    var numbers: [Int] = []
    var most = 0
    for await message in values {
      if numbers.count % 30 == 0 {
        // This message has been taken.
        most = max(most, await sent(stream, over: nats) - numbers.count - 1)
      }
      numbers.append(message.payload)
      if numbers.count == 300 { break }
    }
    #expect(most <= limit)
    #expect(numbers == Array(0..<300))
    await nats.close()
  }

  @Test func `F20 a stalled stream blocks no other subscription, and continues without loss`()
    async throws
  {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("board")
    await fill(stream, 100)
    let values = stream.broadcaster(of: Int.self, from: .beginning).values(.suspending(4))
    let other = Recorder(nats.broadcaster(of: Int.self, on: "other"))
    await until(values.bufferedCount >= 2)
    for number in 0..<50 { try nats.publish(number, on: "other") }
    #expect(await other.next(50).map(\.payload) == Array(0..<50))
    #expect(values.bufferedCount <= 4)
    var numbers: [Int] = []
    for await message in values {
      numbers.append(message.payload)
      if numbers.count == 100 { break }
    }
    #expect(numbers == Array(0..<100))
    await nats.close()
  }

  @Test func `F20 the slowest subscriber decides, and its cancellation lets the others continue`()
    async throws
  {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("board")
    await fill(stream, 200)
    let messages = stream.broadcaster(of: Int.self, from: .beginning)
    // Holds the run, so that both subscribe to the same consumer.
    let slow = messages.values(.suspending(4))
    let received = Shared(0)
    let subscription = messages.subscribe { _ in received.increment() }
    await until(slow.bufferedCount >= 2)
    let ahead = await sent(stream, over: nats)
    #expect(ahead <= 4)
    slow.invalidate()
    await until(received.value + 4 >= 200)
    withExtendedLifetime(subscription) {}
    await nats.close()
  }

  @Test func `F20 a suspending subscriber that joins later bounds the messages ahead`() async throws
  {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    let stream = nats.stream("board")
    await fill(stream, 10)
    let messages = stream.broadcaster(of: Int.self, from: .beginning)
    let received = Shared(0)
    let subscription = messages.subscribe { _ in received.increment() }
    await until(received.value == 10)
    let values = messages.values(.suspending(6))
    for number in 10..<300 { #expect(await stream.append(number).hasSucceeded()) }
    await until(values.bufferedCount >= 3)
    // The first message replaces the consumer. Messages that the old consumer had sent may exceed.
    await until(await nats.consumers(of: stream).contains(#""max_ack_pending":3"#))
    var numbers: [Int] = []
    var most = 0
    for await message in values {
      if numbers.count > 150, numbers.count % 30 == 0 { most = max(most, values.bufferedCount) }
      numbers.append(message.payload)
      if numbers.count == 290 { break }
    }
    #expect(most <= 6)
    #expect(numbers == Array(10..<300))
    withExtendedLifetime(subscription) {}
    await nats.close()
  }

  @Test func `F20 a restart of the server during a stall loses and repeats nothing`() async throws {
    let server = try await NATSServer.keeping()
    let (writing, reading) = (NATSConnection(server.url), NATSConnection(server.url))
    await fill(writing.stream("board"), 200)
    let values = reading.stream("board").broadcaster(of: Int.self, from: .beginning)
      .values(.suspending(8))
    await until(values.bufferedCount >= 4)
    await server.stop()
    await reading.isEventually(.reconnecting)
    try await server.start()
    await reading.isEventually(.connected)
    try await reading.areSubscribed()
    #expect(values.bufferedCount <= 8)
    var numbers: [Int] = []
    for await message in values {
      numbers.append(message.payload)
      if numbers.count == 200 { break }
    }
    #expect(numbers == Array(0..<200))
    await writing.close()
    await reading.close()
  }
}
#endif
