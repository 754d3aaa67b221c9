import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct OperatorTests {
  let source = BroadcastSource<Int>()

  private func send(_ updates: Int...) {
    for update in updates { source.broadcast(update) }
  }

  @Test func `removeDuplicates compares tuples by their elements`() {
    let source = BroadcastSource<(Int, String)>()
    let recorder = Recorder(source.publisher.removeDuplicates().map { "\($0.0)\($0.1)" })

    for pair in [(1, "a"), (1, "a"), (1, "b"), (2, "b"), (2, "b")] { source.broadcast(pair) }

    #expect(recorder.updates == ["1a", "1b", "2b"])
  }

  @Test func `removeDuplicates compares objects, optionals, and tuples in tuples`() {
    final class Thing: Sendable {}
    typealias Tuple = (Thing, Int?, (Double, String))
    let things = [Thing(), Thing()]
    let source = BroadcastSource<Tuple>()
    let recorder = Recorder(source.publisher.removeDuplicates().map { "\($0.1 ?? 0) \($0.2)" })
    let tuples: [Tuple] = [
      (things[0], nil, (1, "a")), (things[0], nil, (1, "a")), (things[1], nil, (1, "a")),
      (things[1], 1, (1, "a")), (things[1], 1, (1, "b")), (things[1], 1, (1, "b")),
      (things[1], 1, (.nan, "b")), (things[1], 1, (.nan, "b")),
    ]

    for tuple in tuples { source.broadcast(tuple) }

    #expect(
      recorder.updates == [
        #"0 (1.0, "a")"#, #"0 (1.0, "a")"#, #"1 (1.0, "a")"#, #"1 (1.0, "b")"#, #"1 (nan, "b")"#,
        #"1 (nan, "b")"#,
      ])
  }

  @Test func `R11 pairs retains the last update until the subscription ends`() {
    let released = Shared(0)
    let things = BroadcastSource<Witness>()
    let subscription = things.publisher.pairs().subscribe { _ in }
    for _ in 1...2 { things.broadcast(Witness { released.increment() }) }
    #expect(released.value == 1)
    subscription.invalidate()
    #expect(released.value == 2)
  }

  @Test func `R29 publishedValue without an initial value is nil until the first update`() {
    let value = source.publisher.publishedValue()
    #expect(value.current() == .some(nil))
    send(1)
    let recorder = Recorder(value)
    send(1, 2)
    source.end()
    #expect(recorder.updates == [1, 2])
    #expect(recorder.hasEnded && value.current() == 2)
  }

  @Test func `prefix of 0 finishes immediately without subscribing`() {
    let recorder = Recorder(source.publisher.prefix(0))
    #expect(recorder.hasEnded)
    #expect(source.subscriberCount == 0)
  }

  @Test func `prefix emits its last update before it drops a re-entrant update`() {
    let recorder = Recorder(source.publisher.prefix(1)) { [source] in source.broadcast($0 + 1) }
    send(1)
    #expect(recorder.updates == [1])
  }

  @Test func `merge accepts publishers of any kind`() {
    let property = PublishedProperty(0)
    let recorder = Recorder(merge(source.publisher, property.publisher))
    send(1)
    property.value = 2
    #expect(recorder.updates == [0, 1, 2])
    #expect(Recorder(merge([Broadcaster<Int>]())).hasEnded)
  }

  @Test func `never is a broadcaster where several kinds fit`() {
    let recorder = Recorder(merge(Broadcaster.sequence([1]), .never))
    #expect(recorder.updates == [1])
    #expect(!recorder.hasEnded)
    let latest: Broadcaster<Int> = source.publisher.flatMapLatest { _ in .never }
    withExtendedLifetime(latest) {}
  }
}
