import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct OperatorTests {
  let source = BroadcastSource<Int>()

  private func send(_ updates: Int...) {
    for update in updates { source.broadcast(update) }
  }

  @Test func `map transforms each update, duplicates too`() {
    let recorder = Recorder(source.publisher.map { "\($0 / 2)" })
    send(1, 2, 3)
    #expect(recorder.updates == ["0", "1", "1"])
  }

  @Test func `filter lets through what is included`() {
    let recorder = Recorder(source.publisher.filter { $0 > 1 })
    send(1, 2, 3)
    #expect(recorder.updates == [2, 3])
  }

  @Test func `filter of a published value may leave out the first`() {
    let property = PublishedProperty(1)
    let recorder = Recorder(property.publisher.filter { $0 > 1 })
    property.value = 2
    #expect(recorder.updates == [2])
  }

  @Test func `compactMap leaves out what gives nil`() {
    let recorder = Recorder(source.publisher.compactMap { $0 > 1 ? "\($0)" : nil })
    send(1, 2, 3)
    #expect(recorder.updates == ["2", "3"])
  }

  @Test func `pairs are each update and the one before it, from the second on`() {
    let pairs = source.publisher.pairs().map { old, new in [old, new] }
    let early = Recorder(pairs)
    send(1, 2)
    let late = Recorder(pairs)
    send(2, 3)
    #expect(early.updates == [[1, 2], [2, 2], [2, 3]])
    #expect(late.updates == [[2, 3]])
  }

  @Test func `R3 a callback of pairs that sends more gets the next pair`() {
    let recorder = Recorder(source.publisher.pairs()) { [source] pair in
      if pair.new < 4 { source.broadcast(pair.new + 1) }
    }
    send(1, 2)
    #expect(recorder.updates.map { [$0.old, $0.new] } == [[1, 2], [2, 3], [3, 4]])
  }

  @Test func `R11 pairs keep the last update for as long as the subscription`() {
    let released = Shared(0)
    let things = BroadcastSource<Witness>()
    let token = things.publisher.pairs().subscribe { _ in }
    for _ in 1...2 { things.broadcast(Witness { released.increment() }) }
    #expect(released.value == 1)
    token.invalidate()
    #expect(released.value == 2)
  }

  @Test func `R29 a published value without a beginning is nil, and follows from its creation`() {
    let value = source.publisher.publishedValue()
    #expect(value.current() == .some(nil))
    send(1)
    let recorder = Recorder(value)
    send(1, 2)
    source.end()
    #expect(recorder.updates == [1, 2])
    #expect(recorder.hasEnded && value.current() == 2)
  }

  @Test func `scan starts anew for each subscriber`() {
    let sums = source.publisher.scan(10) { $0 + $1 }
    let early = Recorder(sums)
    send(1)
    let late = Recorder(sums)
    send(2)
    #expect(early.updates == [11, 13])
    #expect(late.updates == [12])
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

  @Test func `prefix of none ends at once without subscribing`() {
    let recorder = Recorder(source.publisher.prefix(0))
    #expect(recorder.hasEnded)
    #expect(source.subscriberCount == 0)
  }

  @Test func `prefix delivers its last update before a re-entrant one, which it drops`() {
    let recorder = Recorder(source.publisher.prefix(1)) { [source] in source.broadcast($0 + 1) }
    send(1)
    #expect(recorder.updates == [1])
  }

  @Test func `merge takes publishers of any kinds, of none it ends at once`() {
    let property = PublishedProperty(0)
    let recorder = Recorder(merge(source.publisher, property.publisher))
    send(1)
    property.value = 2
    #expect(recorder.updates == [0, 1, 2])
    #expect(Recorder(merge([Broadcaster<Int>]())).hasEnded)
  }

  @Test
  func `R3 an update that a merged callback sends to another input waits for the current one`() {
    let other = BroadcastSource<Int>()
    let merged = merge(source.publisher, other.publisher)
    let first = Recorder(merged) { if $0 == 1 { other.broadcast(2) } }
    let second = Recorder(merged)
    send(1)
    #expect(first.updates == [1, 2])
    #expect(Set(second.updates) == [1, 2])
  }

  @Test func `R6 a merged callback that ends its token is not called again`() {
    let other = BroadcastSource<Int>()
    let token = Shared<Subscription?>(nil)
    let calls = Shared(0)
    token.value = merge(source.publisher, other.publisher).subscribe { _ in
      calls.increment()
      other.broadcast(2)
      token.value?.invalidate()
    }
    send(1, 3)
    #expect(calls.value == 1)
    #expect(other.subscriberCount == 0)
  }

  @Test func `combineLatest calls first when all have, then on each change`() {
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

  @Test func `combineLatest of one source with itself calls once for each change`() {
    let property = PublishedProperty(1)
    let recorder = Recorder(
      combineLatest(property.publisher, property.publisher.map { $0 * 10 }) { $0 + $1 })
    property.value = 2
    #expect(recorder.updates == [11, 22])
  }

  @Test func `broadcaster forgets the kind`() {
    let recorder = Recorder(PublishedProperty(1).publisher.broadcaster)
    #expect(recorder.updates == [1])
  }

  @Test func `removeDuplicates by compares with what was let through last`() {
    let recorder = Recorder(source.publisher.removeDuplicates { abs($0 - $1) < 2 })
    send(1, 2, 3, 4)
    #expect(recorder.updates == [1, 3])
  }

  @Test func `publishedValue skips duplicates, and ends with its broadcaster`() {
    let value = source.publisher.publishedValue(initial: 0)
    let recorder = Recorder(value)
    send(0, 1, 1)
    source.end()
    #expect(recorder.updates == [0, 1])
    #expect(recorder.hasEnded)
    #expect(value.current() == 1)
  }
}
