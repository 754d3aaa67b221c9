import MiniRex
import MiniRexTesting
import Synchronization
import TestSupport
import Testing

extension Publisher where Kind: StreamKind {
  /// Emits every `step`-th update.
  func striding(by step: Int) -> Broadcaster<Update> {
    scan((count: 0, update: Update?.none)) { state, update in (state.count + 1, update) }
      .compactMap { $0.count.isMultiple(of: step) ? $0.update : nil }
  }
}

extension Publisher where Kind: StreamKind {
  /// Emits the last update on completion.
  func last() -> Broadcaster<Update> {
    Broadcaster { receive in
      let last = Mutex<Update?>(nil)
      return subscribe { update in
        last.withLock { $0 = update }
      } onEnd: {
        if let update = last.withLock({ $0 }) { receive(update) }
      }
    }
  }
}

extension Publisher where Kind: StreamKind, Update: Equatable {
  func withoutRepeats() -> Broadcaster<Update> {
    let last = Mutex<Update?>(nil)
    return filter { update in
      last.withLock { last in
        defer { last = update }
        return update != last
      }
    }
  }
}

final class Thermometer: Sendable {
  private let current = Mutex(20)
  private let source = BroadcastSource<Void>()

  var degrees: Int { current.withLock { $0 } }
  var changes: Broadcaster<Void> { source.publisher }

  func show(_ degrees: Int) {
    current.withLock { $0 = degrees }
    source.broadcast(())
  }
}

extension Thermometer {
  var celsius: PublishedValue<Int> {
    PublishedValue(initial: { self.degrees }, changes: changes.map { self.degrees })
  }
}

@Suite(.light) struct WritingAnOperatorSamples {
  @Test func `striding by two emits every second update`() {
    let timeline = Timeline()
    let numbers = timeline.broadcaster("a-b-(cd)-e|")
    timeline.expect("                  --b- d  --|", from: numbers.striding(by: 2))
    #expect(timeline.play() == nil)
  }

  @Test func `last emits on completion`() {
    let timeline = Timeline()
    let numbers = timeline.broadcaster("a-b-|")
    timeline.expect("                  ----(b|)", from: numbers.last())
    #expect(timeline.play() == nil)
  }

  @Test func `a thermometer has a published value`() {
    let thermometer = Thermometer()
    let recorder = Recorder(thermometer.celsius)
    thermometer.show(21)
    #expect(recorder.updates == [20, 21])
  }

  @Test func `striding keeps the laws`() async throws {
    try await expectPublisherLaws {
      let source = BroadcastSource<Int>()
      return PublisherUnderTest(source.publisher.striding(by: 1), drivenBy: source)
    }
  }

  @Test func `striding by two keeps the laws`() async throws {
    try await expectPublisherLaws {
      let source = BroadcastSource<Int>()
      let twice = source.publisher.flatMap(limit: 1) { .sequence([-$0, $0]) }
      return PublisherUnderTest(twice.striding(by: 2), drivenBy: source)
    }
  }

  @Test func `an operator with shared state breaks R2`() async {
    let report = await lawReport {
      let source = BroadcastSource<Int>()
      return PublisherUnderTest(source.publisher.withoutRepeats(), drivenBy: source)
    } until: {
      $0.rule == "R2"
    }
    #expect(
      report?.description == """
        R2 is broken: All subscribers receive each update once, in the same order.
        Script: three subscribers, three updates.
        'b' received nothing. Expected: 1.

        sent         -1
        a            ^1
        b            ^
        c            ^
        """)
  }
}
