import MiniRex
import MiniRexTesting
import TestSupport
import Testing

private final class Door: Sendable {
  func open() {}
  func close() {}
}

private final class Polls: Sendable {
  private let count = Lock(0)
  var value: Int { count.withLock { $0 } }

  func increment() { count.withLock { $0 += 1 } }
}

private func ring(_ number: Int) {}

/// The samples in comments of what tests use.
@Suite(.light) struct TestingCommentSamples {
  private let source = BroadcastSource<Int>()

  @Test func `a closed door is released`() throws {
    try expectReleased { track in
      let door = track(Door())
      door.open()
      door.close()
    }
  }

  @Test func `a closed door cancels its subscriptions`() throws {
    let bag = SubscriptionBag()
    try expectSubscriptionsEnded {
      let bell = BroadcastSource<Int>(name: "bell")
      bell.publisher.subscribe { ring($0) }.store(in: bag)
      bag.invalidate()
    }
  }

  @Test func `a task polls`() async {
    let clock = ManualClock()
    let polls = Polls()
    let polling = Task {
      while true {
        try await clock.sleep(for: .seconds(1))
        polls.increment()
      }
    }
    for _ in 1...3 { await clock.advance(by: .seconds(1), sleepers: 1) }
    await clock.waitForSleepers(1)
    #expect(polls.value == 3)
    polling.cancel()
  }

  @Test func `a second passes`() {
    let clock = ManualClock()
    let recorder = Recorder(source.publisher.debounce(for: .seconds(1), clock: clock))
    source.broadcast(1)
    clock.advance(by: .seconds(1))
    #expect(recorder.updates == [1])
  }

  @Test func `a recorder collects updates`() {
    let recorder = Recorder(source.publisher)
    source.broadcast(1)
    source.broadcast(2)
    #expect(recorder.updates == [1, 2])
  }

  @Test func `a timeline checks merge`() {
    let timeline = Timeline()
    let left = timeline.broadcaster(" a-b---|")
    let right = timeline.broadcaster("--c-d|")
    timeline.expect("                 a-(bc)-d-|", from: merge(left, right))
    #expect(timeline.play() == nil)
  }
}
