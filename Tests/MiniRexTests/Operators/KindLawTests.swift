import MiniRex
import MiniRexTesting
import TestSupport
import Testing

extension LawSubject {
  fileprivate static let values: [LawSubject] = [
    .value("itself") { $0 },
    .value("map") { $0.map { -$0 }.map { -$0 } },
    .value("removeDuplicates") { $0.removeDuplicates() },
    .value("combineLatest") { combineLatest($0, $0) { first, _ in first } },
    .value("combineLatest of two sources") {
      combineLatest($0, PublishedProperty(1).publisher) { first, _ in first }
    },
    .value("switchToLatest") { PublishedValue.constant($0).switchToLatest() },
    .value("flatMapLatest") { $0.flatMapLatest { PublishedValue.constant($0) } },
    .value("share") { $0.share() },
    // Changes of other threads that are queued fold into one (R42).
    .value("computed", conflates: true) { value in .computed { read in read(value) } },
    .value("computed of computed and derived values", conflates: true) { value in
      let negative = PublishedValue.computed { read in -read(value) }
      let shifted = value.map { $0 + 1 }
      return .computed { read in read(shifted) - 1 - read(negative) - read(value) }
    },
    LawSubject("publishedValue") {
      let source = BroadcastSource<Int>()
      return PublisherUnderTest(source.publisher.publishedValue(initial: 0), drivenBy: source)
    },
    LawSubject("PublishedValue with initial and changes") {
      let property = PublishedProperty(0)
      let publisher = PublishedValue(
        initial: { property.value }, changes: property.publisher.dropFirst())
      return PublisherUnderTest(publisher, drivenBy: property)
    },
    .timedValue("debounce", conflates: true) { $0.debounce(for: .milliseconds(9), clock: $1) },
    .timedValue("throttle", conflates: true) { $0.throttle(for: .milliseconds(9), clock: $1) },
    .timedValue("delay") { $0.delay(for: .milliseconds(9), clock: $1) },
  ]

  fileprivate static let timedBroadcasters: [LawSubject] = [
    .timed("debounce", conflates: true) { $0.debounce(for: .milliseconds(9), clock: $1) },
    .timed("throttle", conflates: true) { $0.throttle(for: .milliseconds(9), clock: $1) },
    .timed("delay") { $0.delay(for: .milliseconds(9), clock: $1) },
    .timed("chunked", conflates: true) {
      $0.chunked(every: .milliseconds(9), clock: $1).compactMap(\.last)
    },
    LawSubject("Broadcaster") {
      let source = BroadcastSource<Int>()
      let publisher = Broadcaster<Int> { source.publisher.subscribe($0) }
      return PublisherUnderTest(publisher, drivenBy: source)
    },
  ]

  fileprivate static let tasks: [LawSubject] = [
    .task("itself") { $0 },
    .task("map") { $0.map { -$0 }.map { -$0 } },
    .task("flatMap") { $0.flatMap { .success($0) } },
    .task("flatMap to the task") { task in PublishedTask.success(1).flatMap { _ in task } },
    LawSubject("recover") {
      let source = TaskSource<Int, Unlucky>()
      let task = source.publisher.recover { _ in PublishedTask<Int, Unlucky>.never }
      return PublisherUnderTest(task, drivenBy: source)
    },
    .task("all") { all([$0]).map { $0[0] } },
    .task("timeout") { $0.timeout(after: .seconds(1), clock: ManualClock()) },
    .task("callbacks") { task in
      PublishedTask { finish in task.subscribe { finish($0) } }
    },
    .task("work") { task in
      PublishedTask { try await task.value }
    },
    LawSubject("first") {
      let source = BroadcastSource<Int>()
      return PublisherUnderTest(
        source.publisher.first(), finish: { source.broadcast($0) }, end: { source.end() },
        subscriberCount: { source.subscriberCount })
    },
    LawSubject("delay") {
      let source = TaskSource<Int, Never>()
      let clock = ManualClock()
      return PublisherUnderTest(
        source.publisher.delay(for: .milliseconds(9), clock: clock), drivenBy: source,
        flush: { clock.advance(by: .seconds(1)) })
    },
    .progressive("itself, with progress") { $0 },
    .progressive("map and mapProgress") { task in
      task.map { -$0 }.mapProgress { -$0 }.map { -$0 }.mapProgress { -$0 }
    },
    .progressive("flatMap with progress") { $0.flatMap { .sequence([], .success($0)) } },
    .progressive("timeout with progress") { $0.timeout(after: .seconds(1), clock: ManualClock()) },
    .progressive("callbacks with progress") { task in
      ProgressiveTask<Int, Int, Never> { report, finish in
        task.subscribe { update in
          switch update {
          case .progress(let number): report(number)
          case .finished(let result): finish(result)
          }
        }
      }
    },
  ]
}

@Suite(.heavy, .serialized) struct KindLawTests {
  @Test(arguments: LawSubject.values)
  func `operators that preserve published values obey the laws`(subject: LawSubject) async throws {
    try await expectPublisherLaws(within: .seconds(100), of: subject.make)
  }

  @Test(arguments: LawSubject.timedBroadcasters)
  func `timed operators obey the laws`(subject: LawSubject) async throws {
    try await expectPublisherLaws(within: .seconds(100), of: subject.make)
  }

  @Test(arguments: LawSubject.tasks)
  func `task operators obey the laws`(subject: LawSubject) async throws {
    try await expectPublisherLaws(within: .seconds(100), of: subject.make)
  }
}

private struct Unlucky: Error {}
