import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// The samples of MovingFromAsyncSequence.md.
@Suite(.light) struct MovingFromAsyncSequenceSamples {
  let paper = Paper()

  func print(_ line: Any) { paper.print("\(line)") }

  enum Before {
    actor Room {
      private var participants: [Int: AsyncStream<String>.Continuation] = [:]
      private var lastID = 0

      func messages() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(
          of: String.self, bufferingPolicy: .bufferingNewest(100))
        lastID += 1
        let id = lastID
        participants[id] = continuation
        continuation.onTermination = { _ in
          Task { await self.remove(id) }
        }
        return stream
      }

      func post(_ message: String) {
        for participant in participants.values { participant.yield(message) }
      }

      func close() {
        for participant in participants.values { participant.finish() }
      }

      private func remove(_ id: Int) { participants[id] = nil }
    }
  }

  final class Room: Sendable {
    private let source = BroadcastSource<String>()
    var messages: Broadcaster<String> { source.publisher }

    func post(_ message: String) { source.broadcast(message) }
    func close() { source.end() }
  }

  @Test func `both rooms deliver a message to each participant`() async {
    let old = Before.Room()
    let oldMessages = [await old.messages(), await old.messages()]
    await old.post("hello")
    await old.close()
    for messages in oldMessages {
      var received: [String] = []
      for await message in messages { received.append(message) }
      #expect(received == ["hello"])
    }

    let room = Room()
    let messages = [1, 2].map { _ in room.messages.values(.bufferingNewest(100)) }
    room.post("hello")
    room.close()
    for messages in messages {
      var received: [String] = []
      for await message in messages { received.append(message) }
      #expect(received == ["hello"])
    }
  }

  @Test func `values buffers before the loop starts`() async {
    let room = Room()
    let messages = room.messages.values(.bufferingNewest(100))
    room.post("hello")  // buffered
    room.close()
    for await message in messages { print(message) }  // prints hello

    #expect(paper.lines == ["hello"])
  }

  @Test func `values counts dropped updates`() async {
    let temperature = PublishedProperty(20)
    let values = temperature.publisher.values(.bufferingNewest(1))
    temperature.value = 21
    temperature.value = 22
    temperature.end()
    for await celsius in values { print(celsius) }  // prints 22
    print(values.droppedCount)  // prints 2

    #expect(paper.lines == ["22", "2"])
  }

  struct LineError: Error, Equatable {}

  @Test func `a collecting task fails with the error of its sequence`() async {
    let (lines, input) = AsyncThrowingStream.makeStream(of: String.self, throwing: (any Error).self)
    input.yield("one")
    input.finish(throwing: LineError())

    let all = PublishedTask(collecting: lines)
    do {
      _ = try await all.value
    } catch {
      print(error)
    }

    #expect(paper.lines == ["LineError()"])
  }

  @Test func `share runs one loop for all subscribers`() async {
    let (numbers, input) = AsyncStream.makeStream(of: Int.self)
    let shared = Broadcaster(numbers).map { $0 * 2 }.share()
    let first = Recorder(shared)
    let second = Recorder(shared)

    input.yield(21)

    #expect(await first.next() == [42])
    #expect(await second.next() == [42])
  }

  @Test func `combineLatest emits synchronously`() {
    let celsius = PublishedProperty(20)
    let unit = PublishedProperty("°C")
    let text = combineLatest(celsius.publisher, unit.publisher) { "\($0) \($1)" }
    let subscription = text.subscribe { print($0) }  // prints 20 °C
    celsius.value = 21  // prints 21 °C

    withExtendedLifetime(subscription) {}
    #expect(paper.lines == ["20 °C", "21 °C"])
  }

  @Test func `a family is a cache of async results`() async throws {
    let clock = ManualClock()
    let requests = Shared(0)
    @Sendable func download(_ path: String) async throws -> String {
      requests.increment()
      return "contents of \(path)"
    }

    let images = ResourceFamily(
      staleAfter: .seconds(3_600), keepingUnused: .seconds(60), limit: 100, clock: clock
    ) { (path: String) in try await download(path) }
    let image = try await images["logo.png"].value()

    #expect(image == "contents of logo.png")
    #expect(try await images["logo.png"].value() == image)
    #expect(requests.value == 1)
  }
}
