import MiniRex
import TestSupport
import Testing

/// An update that counts its live instances.
private final class Parcel: Sendable {
  let sender: Int
  let number: Int
  let alive: Shared<Int>

  init(sender: Int, number: Int, alive: Shared<Int>) {
    self.sender = sender
    self.number = number
    self.alive = alive
    alive.increment()
  }

  deinit { alive.increment(by: -1) }
}

private struct Outcome: Sendable {
  var taken = 0
  /// A Boolean value that indicates whether the numbers of each sender increased.
  var isInOrder = true
  var last = [Int](repeating: -1, count: 4)

  mutating func take(_ parcel: Parcel) {
    taken += 1
    if parcel.number <= last[parcel.sender] { isInOrder = false }
    last[parcel.sender] = parcel.number
  }
}

@Suite(.heavy, .serialized) struct ValuesStormTests {
  @Test
  func `R2 R21 R22 64 loops receive 4 senders in order and account for every update`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let perSender = 500
      for _ in 0..<scaled(4) {
        let alive = Shared(0)
        let source = BroadcastSource<Parcel>()
        let policies: [BufferingPolicy<BroadcasterKind>] = [
          .unbounded, .bufferingNewest(1), .bufferingNewest(16), .bufferingOldest(16),
        ]
        var values = (0..<64).map { source.publisher.values(policies[$0 % 4]) }
        let loops = values.enumerated().map { index, values in
          Task {
            var outcome = Outcome()
            for await parcel in values {
              outcome.take(parcel)
              // Some loops break in the middle, and some are canceled.
              if index % 16 == 15, outcome.taken == 50 { break }
            }
            return outcome
          }
        }
        onThreads(5) { sender in
          if sender == 4 {
            for loop in loops[32..<40] { loop.cancel() }
            return
          }
          for number in 0..<perSender {
            source.broadcast(Parcel(sender: sender, number: number, alive: alive))
          }
        }
        source.end()

        for (index, loop) in loops.enumerated() {
          let outcome = await loop.finished()
          let dropped = values[index].droppedCount
          precondition(outcome.isInOrder)
          if index % 16 == 15 {
            precondition(outcome.taken <= 50)
          } else if !(32..<40).contains(index) {
            precondition(values[index].bufferedCount == 0)
            precondition(outcome.taken + dropped == 4 * perSender)
            if index % 4 == 0 { precondition(dropped == 0) }
          }
        }
        precondition(source.subscriberCount == 0)
        // Releasing the sequences releases the updates that broken loops have not taken.
        values = []
        await until { alive.value == 0 }
      }
    }
  }

  @Test func `R21 next races with an update, a cancellation, an end, and the last release`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      for round in 0..<scaled(1_000) {
        let source = Shared<BroadcastSource<Int>?>(BroadcastSource())
        let publisher = source.value?.publisher
        let values = Shared(publisher?.values(round % 2 == 0 ? .unbounded : .bufferingNewest(2)))
        let loop = Task { [sequence = values.value] in
          var taken: [Int] = []
          if let sequence {
            for await number in sequence { taken.append(number) }
          }
          return taken
        }
        if round % 4 < 2 { await Task.yield() }
        onThreads(2) { thread in
          if thread == 0 {
            source.value?.broadcast(0)
            source.value?.broadcast(1)
            if round % 3 == 0 { source.value?.end() }
            source.value = nil
          } else {
            values.value = nil
            if round % 3 == 1 { loop.cancel() }
          }
        }

        let taken = await loop.finished()

        precondition(taken == Array(0..<taken.count))
        if round % 3 != 1 { precondition(taken == [0, 1]) }
      }
    }
  }

  @Test func `R19 R21 awaiting a result races with the result, a cancellation, and a release`()
    async
  {
    await #expect(processExitsWith: .success) {
      mustEnd()
      for round in 0..<scaled(800) {
        let source = Shared<TaskSource<Int, Never>?>(TaskSource())
        let task = source.value?.publisher
        let waiters = (0..<4).map { _ in Task { await task?.result } }
        if round % 2 == 0 { await Task.yield() }
        onThreads(3) { thread in
          switch thread {
          case 0: source.value?.finish(.success(round))
          case 1: waiters[0].cancel()
          default: if round % 3 == 0 { source.value = nil }
          }
        }

        for (index, waiter) in waiters.enumerated() {
          let result = await waiter.finished()
          if index > 0, round % 3 != 0 { precondition(result == .success(round)) }
          precondition(result == nil || result == .success(round))
        }
      }
    }
  }
}
