import TestSupport
import Testing

@testable import MiniRex

/// Subscribers of a part that another subscriber computes.
///
/// In separate processes, because writes of other tests move the change clock.
@Suite(.light) struct CollapsedPartTests {
  @Test func `R43 a subscriber has no entries for a part that another subscriber computes`()
    async
  {
    await #expect(processExitsWith: .success) {
      let part = SharedPart(subscribers: 10)
      part.change(times: 20)
      #expect(part.entryCounts[0] == 21)
      #expect(part.entryCounts.dropFirst().allSatisfy { $0 == 2 })
      #expect(part.areCorrect)
    }
  }

  @Test func `R36 a part runs once for each change after its first subscriber has canceled`()
    async
  {
    await #expect(processExitsWith: .success) {
      let part = SharedPart(subscribers: 5)
      part.change(times: 20)
      part.subscriptions[0].invalidate()
      part.runs.value = 0
      part.change(times: 20)
      #expect(part.runs.value == 20 * 20)
      #expect(part.entryCounts[1] == 21)
      #expect(part.entryCounts[2...].allSatisfy { $0 == 2 })
      #expect(part.areCorrect)
    }
  }

  @Test func `R35 R36 a part may find other sources`() async {
    await #expect(processExitsWith: .success) {
      let part = SharedPart(subscribers: 5)
      part.change(times: 20)
      part.isOther.value = true
      #expect(part.areCorrect)
      part.runs.value = 0
      part.other.value = 7
      #expect(part.runs.value == 20)
      #expect(part.areCorrect)
      part.change(times: 1)
      #expect(part.runs.value == 20)
    }
  }

  /// An equal value need not be taken again by the subscribers.
  @Test func `R35 R36 a part with an equal value may find other sources`() async {
    await #expect(processExitsWith: .success) {
      let part = SharedPart(subscribers: 5)
      part.change(times: 20)
      part.other.value = part.head.value
      part.isOther.value = true
      #expect(part.areCorrect)
      part.other.value += 1
      #expect(part.areCorrect)
      part.head.value += 5
      #expect(part.areCorrect)
    }
  }

  @Test func `R36 a closure may read a value inside a part`() async {
    await #expect(processExitsWith: .success) {
      let (flag, head) = (PublishedProperty(false), PublishedProperty(0))
      let runs = Shared(0)
      let inner = PublishedValue.computed { read in
        runs.increment()
        return read(head) + 1
      }
      let outer = PublishedValue.computed { read in read(inner) * 2 }
      let values = (0..<3).map { _ in Shared([Int]()) }
      let subscriptions = values.map { values in
        PublishedValue.computed { read in read(outer) + (read(flag) ? read(inner) : 0) }
          .subscribe { value in values.change { $0.append(value) } }
      }
      for value in 1...20 { head.value = value }
      flag.value = true
      head.value = 30
      #expect(values.allSatisfy { $0.value.suffix(3) == [42, 63, 93] })
      #expect(runs.value == 22)
      for subscription in subscriptions { subscription.invalidate() }
    }
  }

  /// The callback of the first subscriber changes another source, so the second reads the value inside
  /// the part before it has received the change of the part.
  @Test func `R36 a closure reads a value inside a part as the part has read it`() async {
    await #expect(processExitsWith: .success) {
      let (flag, head) = (PublishedProperty(false), PublishedProperty(0))
      let runs = Shared(0)
      let inner = PublishedValue.computed { read in
        runs.increment()
        return read(head) + 1
      }
      let outer = PublishedValue.computed { read in read(inner) * 2 }
      let values = (0..<2).map { _ in Shared([Int]()) }
      let subscriptions = values.enumerated().map { number, values in
        PublishedValue.computed { read in read(outer) + (read(flag) ? read(inner) : 0) }
          .subscribe { value in
            values.change { $0.append(value) }
            if number == 0, value == 62 { flag.value = true }
          }
      }
      for value in 1...20 { head.value = value }
      head.value = 30
      #expect(values[0].value.suffix(2) == [62, 93])
      #expect(values[1].value.suffix(3) == [42, 63, 93])
      #expect(runs.value == 22)
      for subscription in subscriptions { subscription.invalidate() }
    }
  }

  @Test func `R43 a part whose value stays equal needs no entries`() async {
    await #expect(processExitsWith: .success) {
      let part = SharedPart(subscribers: 5)
      part.change(times: 20)
      part.head.value = 1_000
      part.runs.value = 0
      part.change(times: 20)
      #expect(part.runs.value == 20)
      #expect(part.entryCounts.dropFirst().allSatisfy { $0 == 2 })
      part.head.value = 5
      #expect(part.areCorrect)
    }
  }

  @Test func `R41 R43 a batch expands no part`() async {
    await #expect(processExitsWith: .success) {
      let part = SharedPart(subscribers: 5)
      part.change(times: 20)
      for value in 100..<120 {
        part.runs.value = 0
        together { set in
          set(part.head, to: value)
          set(part.isOther, to: false)
          set(part.other, to: value)
        }
        #expect(part.runs.value == 20)
        #expect(part.entryCounts.dropFirst().allSatisfy { $0 == 2 })
        #expect(part.areCorrect)
      }
    }
  }

  @Test(arguments: [false, true])
  func `R41 a batch during the first run is not seen in part`(isOtherThread: Bool) {
    let (one, other) = (PublishedProperty(0), PublishedProperty(0))
    let runs = Shared(0)
    let values = Shared([[Int]]())
    let write = { @Sendable in
      together { set in
        set(one, to: 1)
        set(other, to: 1)
      }
    }
    let value = PublishedValue.computed { read in
      let read = [read(one), read(other)]
      if runs.increment() == 1 { isOtherThread ? onThreads(1) { _ in write() } : write() }
      return read
    }
    let subscription = value.subscribe { value in values.change { $0.append(value) } }
    #expect(values.value.allSatisfy { $0[0] == $0[1] }, "\(values.value)")
    #expect(values.value.last == [1, 1])
    subscription.invalidate()
  }
}

/// Subscribers that share a chain of 20 values.
private final class SharedPart: Sendable {
  let head = PublishedProperty(0)
  let other = PublishedProperty(0)
  let isOther = PublishedProperty(false)
  /// The runs of the shared values.
  let runs = Shared(0)
  let subscriptions: [Subscription]
  private let lists: [LiveInputs]
  private let last: [Shared<Int>]

  init(subscribers: Int) {
    var end = PublishedValue.computed { [head, other, isOther, runs] read in
      runs.increment()
      return min(read(isOther) ? read(other) : read(head), 1_000)
    }
    for _ in 1..<20 {
      end = .computed { [end, runs] read in
        runs.increment()
        return read(end) + 1
      }
    }
    lists = (0..<subscribers).map { [end] number in LiveInputs(of: node { $0(end) + number }) }
    let last = lists.map { _ in Shared(0) }
    subscriptions = zip(lists, last).map { list, last in
      list.subscribe { last.value = $0.value(of: Int.self) }
    }
    self.last = last
  }

  /// The numbers of computed values in the indexes.
  var entryCounts: [Int] { lists.map(\.index.values.count) }

  var areCorrect: Bool {
    let value = (isOther.value ? other : head).value + 19
    return zip(last, subscriptions).enumerated().allSatisfy { number, each in
      !each.1.isSubscribed || each.0.value == value + number
    }
  }

  func change(times: Int) {
    for _ in 0..<times { head.value += 1 }
  }
}
