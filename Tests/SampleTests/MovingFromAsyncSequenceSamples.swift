import MiniRex
import MiniRexTesting
import Testing

/// The code of MovingFromAsyncSequence.md.
@Suite(.timeLimit(.minutes(20))) struct MovingFromAsyncSequenceSamples {
  let paper = Paper()

  func print(_ line: Any) { paper.print("\(line)") }

  enum Before {
    actor Room {
      private var listeners: [Int: AsyncStream<String>.Continuation] = [:]
      private var lastID = 0

      func messages() -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream.makeStream(
          of: String.self, bufferingPolicy: .bufferingNewest(100))
        lastID += 1
        let id = lastID
        listeners[id] = continuation
        continuation.onTermination = { _ in
          Task { await self.leave(id) }
        }
        return stream
      }

      func say(_ message: String) {
        for listener in listeners.values { listener.yield(message) }
      }

      func close() {
        for listener in listeners.values { listener.finish() }
      }

      private func leave(_ id: Int) { listeners[id] = nil }
    }
  }

  final class Room: Sendable {
    private let source = BroadcastSource<String>()
    var messages: Broadcaster<String> { source.publisher }

    func say(_ message: String) { source.broadcast(message) }
    func close() { source.end() }
  }

  @Test func `both rooms say the same to each listener`() async {
    let old = Before.Room()
    let oldMessages = [await old.messages(), await old.messages()]
    await old.say("hello")
    await old.close()
    for messages in oldMessages {
      var heard: [String] = []
      for await message in messages { heard.append(message) }
      #expect(heard == ["hello"])
    }

    let room = Room()
    let messages = [1, 2].map { _ in room.messages.values(.bufferingNewest(100)) }
    room.say("hello")
    room.close()
    for messages in messages {
      var heard: [String] = []
      for await message in messages { heard.append(message) }
      #expect(heard == ["hello"])
    }
  }

  @Test func `a loop`() async {
    let room = Room()
    let messages = room.messages.values(.bufferingNewest(100))
    room.say("hello")  // the buffer has it
    room.close()
    for await message in messages { print(message) }  // prints hello

    #expect(paper.lines == ["hello"])
  }

  @Test func `what is dropped is counted`() async {
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

  @Test func `a failure of the sequence is the failure of a task`() async {
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

  @Test func `one loop for many subscribers`() async {
    let (numbers, input) = AsyncStream.makeStream(of: Int.self)
    let shared = Broadcaster(numbers).map { $0 * 2 }.share()
    let first = Recorder(shared)
    let second = Recorder(shared)

    input.yield(21)

    #expect(await first.next() == [42])
    #expect(await second.next() == [42])
  }

  @Test func `merge and combineLatest call at once`() {
    let celsius = PublishedProperty(20)
    let unit = PublishedProperty("°C")
    let text = combineLatest(celsius.publisher, unit.publisher) { "\($0) \($1)" }
    let subscription = text.subscribe { print($0) }  // prints 20 °C
    celsius.value = 21  // prints 21 °C

    withExtendedLifetime(subscription) {}
    #expect(paper.lines == ["20 °C", "21 °C"])
  }
}
