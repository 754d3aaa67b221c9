import Foundation
import MiniRex
import TestSupport
import Testing

/// The simplest model of a buffer.
private struct Model {
  enum Phase {
    case open
    case ended
    case closed
  }

  let keepsNewest: Bool
  let limit: Int
  var phase = Phase.open
  var waits = false
  var buffered: [Int] = []
  var dropped = 0
  /// The results of `next()`, with `nil` for the end.
  var taken: [Int?] = []

  mutating func send(_ number: Int) {
    guard phase == .open else { return }
    if waits {
      waits = false
      taken.append(number)
    } else if buffered.count < limit {
      buffered.append(number)
    } else {
      dropped += 1
      if keepsNewest { buffered = buffered.dropFirst() + [number] }
    }
  }

  mutating func take() {
    if !buffered.isEmpty {
      taken.append(buffered.removeFirst())
    } else if phase == .open {
      waits = true
    } else {
      taken.append(nil)
    }
  }

  mutating func end(_ phase: Phase) {
    if self.phase != .closed { self.phase = phase }
    if phase == .closed { buffered = [] }
    if waits { taken.append(nil) }
    waits = false
  }
}

/// Takes one update at a time from real `values`, on the thread of the test.
private final class Taker: Sendable {
  let executor = StepExecutor()
  let taken = Shared<[Int?]>([])
  let values: PublisherValues<Int>
  let task = Shared<Task<Void, Never>?>(nil)

  init(_ values: PublisherValues<Int>) {
    self.values = values
  }

  func take() {
    task.value = Task(executorPreference: executor) { [taken, values, task] in
      var iterator = values.makeAsyncIterator()
      let update = await iterator.next()
      taken.change { $0.append(update) }
      task.value = nil
    }
    executor.run()
  }
}

@Suite(.light) struct ValuesModelTests {
  let seed =
    ProcessInfo.processInfo.environment["MINIREX_SEED"].flatMap(UInt64.init) ?? 20_240_229

  @Test(arguments: [(true, 1), (true, 3), (false, 1), (false, 3), (true, Int.max)])
  func `R21 values buffers, drops, returns, and ends like a model in random scripts`(
    keepsNewest: Bool, limit: Int
  ) {
    for script in 0..<UInt64(scaled(800)) {
      var random = SeededGenerator(seed: seed &+ script)
      let source = BroadcastSource<Int>()
      let policy: BufferingPolicy<BroadcasterKind> =
        limit == .max
        ? .unbounded : keepsNewest ? .bufferingNewest(limit) : .bufferingOldest(limit)
      var model = Model(keepsNewest: keepsNewest, limit: limit)
      let taker = Taker(source.publisher.values(policy))
      var steps: [String] = []
      for number in 0..<Int.random(in: 1...30, using: &random) {
        switch Int.random(in: 0..<40, using: &random) {
        case 0:
          steps.append("end")
          source.end()
          model.end(.ended)
        case 1 where taker.task.value != nil:
          steps.append("cancel")
          taker.task.value?.cancel()
          model.end(.closed)
        case 2..<22:
          steps.append("send")
          source.broadcast(number)
          model.send(number)
        default:
          steps.append("take")
          taker.executor.run()
          if taker.task.value == nil {
            taker.take()
            model.take()
          }
        }
        let agrees =
          taker.values.bufferedCount == model.buffered.count
          && taker.values.droppedCount == model.dropped
          && source.subscriberCount == (model.phase == .open ? 1 : 0)
        #expect(agrees, "seed \(seed &+ script): \(steps)")
      }
      taker.task.value?.cancel()
      if taker.task.value != nil { model.end(.closed) }
      taker.executor.run()

      #expect(taker.taken.value == model.taken, "seed \(seed &+ script): \(steps)")
    }
  }
}
