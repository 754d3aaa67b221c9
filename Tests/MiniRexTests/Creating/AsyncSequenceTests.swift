import MiniRex
import MiniRexTesting
import TestSupport
import Testing

private struct Refusal: Error, Equatable {}

/// Counts to `last`, and then ends, throws, or suspends until it is canceled.
private struct Counting: AsyncSequence, Sendable {
  enum Ending: Sendable {
    case end
    case failure
    case never
  }

  let last: Int
  var ending = Ending.end
  var starts = Shared(0)
  var cancellations = Shared(0)

  struct Iterator: AsyncIteratorProtocol {
    let sequence: Counting
    var number = 0

    mutating func next() async throws(Refusal) -> Int? {
      try await next(isolation: nil)
    }

    mutating func next(isolation actor: isolated (any Actor)?) async throws(Refusal) -> Int? {
      if number < sequence.last {
        number += 1
        return number
      }
      switch sequence.ending {
      case .end:
        return nil
      case .failure:
        throw Refusal()
      case .never:
        let never = AsyncStream<Int> { _ in }
        for await _ in never {}
        sequence.cancellations.increment()
        return nil
      }
    }
  }

  func makeAsyncIterator() -> Iterator {
    starts.increment()
    return Iterator(sequence: self)
  }
}

@Suite(.light) struct AsyncSequenceTests {
  @Test func `a broadcaster of an async sequence emits the elements, then finishes`() async {
    let recorder = Recorder(Broadcaster(Counting(last: 3)))

    #expect(await recorder.next(4) == [1, 2, 3])
    #expect(recorder.hasEnded)
    #expect(!recorder.isSubscribed)
  }

  @Test func `R26 a broadcaster of an async sequence finishes when the sequence throws`() async {
    let recorder = Recorder(Broadcaster(Counting(last: 2, ending: .failure)))

    #expect(await recorder.next(3) == [1, 2])
    #expect(recorder.hasEnded)
  }

  @Test func `each subscriber iterates the sequence, and canceling stops its iteration`()
    async
  {
    let sequence = Counting(last: 2, ending: .never)
    let publisher = Broadcaster(sequence)
    #expect(sequence.starts.value == 0)
    let recorders = (0..<2).map { _ in Recorder(publisher) }
    for recorder in recorders { #expect(await recorder.next(2) == [1, 2]) }
    #expect(sequence.starts.value == 2)

    recorders[0].invalidate()
    await until { sequence.cancellations.value >= 1 }

    #expect(recorders[1].isSubscribed)
    recorders[1].invalidate()
    await until { sequence.cancellations.value >= 2 }
    #expect(recorders.map(\.updates) == [[1, 2], [1, 2]])
  }

  @Test func `R6 a sequence that ignores cancellation reaches no canceled subscriber`()
    async
  {
    let source = BroadcastSource<Int>()
    let values = source.publisher.values(.unbounded)
    let reads = Shared(0)
    let stubborn = AsyncStream {
      await Task.detached {
        reads.increment()
        var iterator = values.makeAsyncIterator()
        return await iterator.next()
      }.value
    }
    let recorder = Recorder(Broadcaster(stubborn))
    source.broadcast(1)
    #expect(await recorder.next() == [1])
    // A canceled stream does not begin another read.
    await until { reads.value == 2 }

    recorder.invalidate()
    source.broadcast(2)
    await until { values.bufferedCount == 0 }
    source.end()

    #expect(recorder.updates == [1])
  }

  @Test func `R11 the sequence is released with its broadcaster and its subscribers`() async {
    let alive = Shared(0)
    do {
      alive.increment()
      let witness = Witness { alive.increment(by: -1) }
      let sequence = AsyncStream<Int> { continuation in
        continuation.yield(1)
        continuation.onTermination = { _ in witness.touch() }
      }
      let recorder = Recorder(Broadcaster(sequence))
      #expect(await recorder.next() == [1])
      recorder.invalidate()
    }

    await until { alive.value == 0 }
  }

  @Test func `a broadcaster of values emits the updates of the source`() async {
    let source = BroadcastSource<Int>()
    let recorder = Recorder(Broadcaster(source.publisher.values(.unbounded)))
    for number in 0..<100 { source.broadcast(number) }
    source.end()

    #expect(await recorder.next(101) == Array(0..<100))
    #expect(recorder.hasEnded)
  }

  @Test func `a collecting task iterates the sequence once for all subscribers`() async throws {
    let sequence = Counting(last: 3)
    let task: PublishedTask<[Int], Refusal> = PublishedTask(collecting: sequence)

    #expect(await task.result == .success([1, 2, 3]))
    #expect(try await task.value == [1, 2, 3])
    #expect(sequence.starts.value == 1)
  }

  @Test func `a collecting task keeps the failure type of the sequence`() async {
    let task = PublishedTask(collecting: Counting(last: 3, ending: .failure))
    let result: Result<[Int], Refusal>? = await task.result

    #expect(result == .failure(Refusal()))
  }

  @Test func `R19 the last cancellation of a collecting task cancels its loop`() async {
    let sequence = Counting(last: 1, ending: .never)
    let recorder = Recorder(PublishedTask(collecting: sequence))
    await until { sequence.starts.value > 0 }

    recorder.invalidate()

    await until { sequence.cancellations.value > 0 }
    #expect(recorder.updates.isEmpty)
  }
}
