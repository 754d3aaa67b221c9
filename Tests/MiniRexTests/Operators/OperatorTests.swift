import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct OperatorTests {
  let source = BroadcastSource<Int>()

  private func send(_ updates: Int...) {
    for update in updates { source.broadcast(update) }
  }

  @Test func `pairs emits each update with its predecessor, from the second update on`() {
    let pairs = source.publisher.pairs().map { old, new in [old, new] }
    let early = Recorder(pairs)
    send(1, 2)
    let late = Recorder(pairs)
    send(2, 3)
    #expect(early.updates == [[1, 2], [2, 2], [2, 3]])
    #expect(late.updates == [[2, 3]])
  }

  @Test func `R3 a re-entrant send in a callback of pairs emits the next pair`() {
    let recorder = Recorder(source.publisher.pairs()) { [source] pair in
      if pair.new < 4 { source.broadcast(pair.new + 1) }
    }
    send(1, 2)
    #expect(recorder.updates.map { [$0.old, $0.new] } == [[1, 2], [2, 3], [3, 4]])
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

  @Test func `prefix and dropFirst count for each subscriber`() {
    let early = Recorder(source.publisher.prefix(2))
    let rest = Recorder(source.publisher.dropFirst(2))
    send(1)
    let late = Recorder(source.publisher.prefix(2))
    send(2, 3, 4)
    #expect(early.updates == [1, 2])
    #expect(late.updates == [2, 3])
    #expect(rest.updates == [3, 4])
    #expect(source.subscriberCount == 1)
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

  @Test
  func `R3 a callback of merge that sends to another input does not nest`() {
    let other = BroadcastSource<Int>()
    let merged = merge(source.publisher, other.publisher)
    let first = Recorder(merged) { if $0 == 1 { other.broadcast(2) } }
    let second = Recorder(merged)
    send(1)
    #expect(first.updates == [1, 2])
    #expect(Set(second.updates) == [1, 2])
  }

  @Test func `R6 a callback of merge that cancels its subscription does not run again`() {
    let other = BroadcastSource<Int>()
    let subscription = Shared<Subscription?>(nil)
    let calls = Shared(0)
    subscription.value = merge(source.publisher, other.publisher).subscribe { _ in
      calls.increment()
      other.broadcast(2)
      subscription.value?.invalidate()
    }
    send(1, 3)
    #expect(calls.value == 1)
    #expect(other.subscriberCount == 0)
  }

  @Test func `combineLatest emits the current values, then each change`() {
    let count = PublishedProperty(1)
    let name = PublishedProperty("a")
    let flag = PublishedProperty(false)
    let recorder = Recorder(
      combineLatest(count.publisher, name.publisher, flag.publisher) { "\($0)\($1)\($2)" })
    count.value = 2
    name.value = "b"
    name.value = "b"
    flag.value = true
    #expect(recorder.updates == ["1afalse", "2afalse", "2bfalse", "2btrue"])
  }

  @Test func `publishedValue skips duplicates and finishes with its broadcaster`() {
    let value = source.publisher.publishedValue(initial: 0)
    let recorder = Recorder(value)
    send(0, 1, 1)
    source.end()
    #expect(recorder.updates == [0, 1])
    #expect(recorder.hasEnded)
    #expect(value.current() == 1)
  }
}
