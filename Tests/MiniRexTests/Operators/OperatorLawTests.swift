import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// An operator in a form that changes nothing, so that all operators can be tested for the same
/// laws.
struct Operator: Sendable, CustomTestStringConvertible {
  let name: String
  let apply: @Sendable (Broadcaster<Int>) -> Broadcaster<Int>
  /// A Boolean value that indicates whether the operator is a separate source that receives the
  /// updates from upstream.
  private(set) var isSource = false

  init(_ name: String, _ apply: @escaping @Sendable (Broadcaster<Int>) -> Broadcaster<Int>) {
    self.name = name
    self.apply = apply
  }

  var testDescription: String { name }

  private var source: Operator {
    var source = self
    source.isSource = true
    return source
  }

  static let all: [Operator] = [
    Operator("map") { $0.map { $0 + 1 }.map { $0 - 1 } },
    Operator("filter") { $0.filter { _ in true } },
    Operator("compactMap") { $0.compactMap { $0 } },
    Operator("scan") { $0.scan(0) { $1 } },
    Operator("prefix") { $0.prefix(.max) },
    Operator("prefix while") { $0.prefix { _ in true } },
    Operator("dropFirst") { $0.dropFirst(0) },
    Operator("drop while") { $0.drop { _ in false } },
    Operator("removeDuplicates") { $0.removeDuplicates() },
    Operator("removeDuplicates by") { $0.removeDuplicates { _, _ in false } },
    Operator("merge") { merge($0, Broadcaster<Int>.sequence([])) },
    Operator("withLatest") { $0.withLatest(from: .constant("a")).map { number, _ in number } },
    Operator("withLatest of a broadcaster") {
      $0.withLatest(from: Broadcaster.sequence(["a"])).map { number, _ in number }
    },
    Operator("prefix until") { $0.prefix(until: Broadcaster<Int>.never) },
    Operator("drop until") { $0.drop(until: Broadcaster<Int>.sequence([0])) },
    Operator("chunked") { $0.chunked(by: 1).map { $0[0] } },
    Operator("chunked in time") { $0.chunked(by: 1, every: .seconds(1)).map { $0[0] } },
    Operator("prepend") { $0.prepend() },
    Operator("append") { $0.append(.sequence([])) },
    Operator("append to a finished publisher") { Broadcaster.sequence([]).append($0) },
    Operator("pairs") { $0.prepend(0).pairs().map(\.new) },
    Operator("switchToLatest") { updates in
      Broadcaster.sequence([.never, updates]).switchToLatest()
    },
    Operator("switchToLatest of the last update") { updates in
      updates.map { Broadcaster.sequence([$0]) }.switchToLatest()
    },
    Operator("flatMapLatest") { $0.flatMapLatest { PublishedValue.constant($0) } },
    Operator("flatMap") { $0.flatMap(limit: .max) { Broadcaster.sequence([$0]) } },
    Operator("flatMap of one") { updates in
      Broadcaster.sequence([updates]).flatMap(limit: 1) { $0 }
    },
    Operator("share") { $0.share() }.source,
    Operator("share of share") { $0.share().share() }.source,
    Operator("combineLatest") {
      combineLatest($0.publishedValue(initial: 0), .constant(1)) { number, _ in number }.dropFirst()
    }.source,
    Operator("publishedValue") { $0.publishedValue(initial: 0).dropFirst() }.source,
    Operator("publishedValue without an initial value") {
      $0.publishedValue().dropFirst().compactMap { $0 }
    }.source,
    Operator("value, shared and switched") {
      let value = $0.publishedValue(initial: 0).share()
      return PublishedValue.constant(value).switchToLatest().dropFirst()
    }.source,
  ]
}

@Suite(.heavy, .serialized) struct OperatorLawTests {
  @Test(arguments: Operator.all)
  func `operators of broadcasters obey the laws`(subject: Operator) async throws {
    let subject = LawSubject.stream(subject.name, subject.apply)
    try await expectPublisherLaws(within: .seconds(100), of: subject.make)
  }

  @Test(.light, arguments: Operator.all)
  func `R3 a long chain of re-entrant updates uses constant stack`(subject: Operator) {
    // An update that is delivered inside another has several frames, of more than 105 bytes together.
    let count = chainSteps(5_000)
    onThread(stackSize: 512 * 1024) {
      let source = BroadcastSource<Int>()
      let calls = Shared(0)
      let subscription = subject.apply(source.publisher).subscribe { number in
        calls.increment()
        if number < count { source.broadcast(number + 1) }
      }
      source.broadcast(1)
      #expect(calls.value == count)
      withExtendedLifetime(subscription) {}
    }
  }

  @Test(arguments: Operator.all)
  func `R5 a subscriber receives exactly the updates sent after it subscribed`(subject: Operator) {
    let source = BroadcastSource<Int>()
    let publisher = subject.apply(source.publisher)
    let nested = Shared<Recorder<Int>?>(nil)
    let first = Recorder(publisher) { number in
      if number == 1 {
        source.broadcast(2)
        nested.value = Recorder(publisher)
        source.broadcast(3)
      }
    }

    source.broadcast(1)

    #expect(first.updates == [1, 2, 3])
    // An update queued upstream of a separate source has not been sent to that source yet.
    #expect(nested.value?.updates == (subject.isSource ? [2, 3] : [3]))
  }

  @Test(arguments: Operator.all)
  func `R13 deallocating the source finishes every derived publisher`(subject: Operator) {
    var source: BroadcastSource<Int>? = BroadcastSource()
    let recorder = source.map { Recorder(subject.apply($0.publisher)) }
    source?.broadcast(1)
    source = nil
    #expect(recorder?.updates == [1])
    #expect(recorder?.hasEnded == true)
  }
}
