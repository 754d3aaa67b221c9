import MiniRex
import MiniRexTesting
import TestSupport
import Testing

extension ComputedTests {
  @Test func `R37 no run sees two states of one source`() async {
    let source = PublishedProperty(0)
    let mixed = Shared(0)
    let plain = source.publisher
    let double = PublishedValue.computed { read in read(source) * 2 }
    let shifted = plain.map { $0 + 1_000_000 }
    let deep = PublishedValue.computed { read in read(double) + read(shifted) }
    let value = PublishedValue.computed { read in
      let all = [read(deep), read(source), read(double), read(shifted), read(plain)]
      if all != [all[1] * 3 + 1_000_000, all[1], all[1] * 2, all[1] + 1_000_000, all[1]] {
        mixed.increment()
      }
      return all[1]
    }
    let last = Shared(0)
    let subscription = value.subscribe { last.value = $0 }
    let rounds = scaled(20_000)
    onThreads(4) { index in
      for round in 1...rounds {
        if index < 2 { source.value = round * 2 + index } else { _ = value.current() }
      }
    }
    #expect(mixed.value == 0)
    // A Swift task may deliver the rest of a long queue.
    await until { last.value == source.value }
    #expect(value.current() == source.value)
    subscription.invalidate()
  }

  @Test func `R36 R30 a combination with a computed value is glitch-free on several threads`()
    async
  {
    let source = PublishedProperty(0)
    let double = PublishedValue.computed { read in read(source) * 2 }
    let triple = PublishedValue.computed { read in read(double) + read(source) }
    let mixed = Shared(0)
    let last = Shared([Int]())
    let all = combineLatest(source.publisher, triple, double) { [$0, $1, $2] }
    let subscription = all.subscribe { values in
      if values != [values[0], values[0] * 3, values[0] * 2] { mixed.increment() }
      last.value = values
    }
    let rounds = scaled(5_000)
    onThreads(4) { index in
      for round in 1...rounds { source.value = round * 4 + index }
    }
    await until { last.value.first == source.value }
    #expect(mixed.value == 0)
    subscription.invalidate()
  }

  @Test func `R16 R37 a queued value does not replace a newer one`() async {
    await whileAChangeIsDelivered {
      let trigger = PublishedProperty(0)
      let flag = PublishedProperty(true)
      let source = PublishedProperty(1)
      let value = PublishedValue.computed { read in
        [read(trigger), read(flag) ? read(source) : 0]
      }
      let seen = Shared([[Int]]())
      let subscription = value.subscribe { next in
        seen.append(next)
        if next == [1, 1] {
          flag.value = false
          flag.value = true
          source.value = 2
        }
        // The value that is found again is newer than the queued one.
        if next == [1, 0] { source.value = 3 }
      }
      trigger.value = 1
      #expect(seen.value == [[0, 1], [1, 1], [1, 0], [1, 3]])
      subscription.invalidate()
    }
  }

  @Test func `R16 R37 at rest, a subscriber has the value of the last writes`() async {
    await checkAtRest()
  }

  @Test func `R16 R37 at rest, it has that value although other changes are in delivery`() async {
    await whileAChangeIsDelivered { await checkAtRest() }
  }

  private func checkAtRest() async {
    let sources = (0..<3).map { PublishedProperty($0) }
    let flag = PublishedProperty(false)
    let inner = PublishedValue.computed { read in
      read(flag) ? read(sources[0]) : read(sources[1])
    }
    let value = PublishedValue.computed { read in [read(inner), read(sources[2])] }
    for _ in 0..<scaled(200) {
      let last = Shared([Int]())
      let subscription = value.subscribe { last.value = $0 }
      onThreads(4) { index in
        for round in 0..<20 {
          if index == 3 { flag.value.toggle() } else { sources[index].value = round }
        }
      }
      let expected = [sources[flag.value ? 0 : 1].value, sources[2].value]
      await until { last.value == expected }
      #expect(value.current() == expected)
      subscription.invalidate()
    }
    #expect(sources.map(\.subscriberCount) == [0, 0, 0])
  }

  @Test func `R38 threads that read at the same time run the closure once`() {
    for _ in 0..<scaled(100) {
      let runs = Shared(0)
      let running = Gate()
      let source = PublishedProperty(1)
      let value = PublishedValue.computed { read in
        runs.increment()
        running.wait()
        return read(source)
      }
      let results = Shared([Int?]())
      onThreads(3) { index in
        if index == 0 { running.open() }
        results.append(value.current())
      }
      #expect(results.value == [1, 1, 1])
      #expect(runs.value == 1)
    }
  }

  @Test func `R14 R35 a dependency that changes while it is found is not missed`() async {
    for round in 0..<scaled(500) {
      let flag = PublishedProperty(false)
      let source = PublishedProperty(0)
      let value = PublishedValue.computed { read in read(flag) ? read(source) : -1 }
      let last = Shared(0)
      let subscription = value.subscribe { last.value = $0 }
      onThreads(2) { index in
        if index == 0 { flag.value = true } else { source.value = round + 1 }
      }
      await until { last.value == round + 1 }
      subscription.invalidate()
    }
  }

  /// An equal result keeps the results below it, which are older than the reads of the run.
  @Test func `R37 a run that is overtaken reads no older values below an equal result`() {
    let (source, first, last) = (PublishedProperty(1), PublishedProperty(0), PublishedProperty(0))
    let double = PublishedValue.computed { read in read(source) * 2 }
    let limited = PublishedValue.computed { read in min(read(double), 0) }
    let outer = PublishedValue.computed { read in read(limited) + 1 }
    let list = PublishedValue.computed { read in
      _ = read(first)
      let result = read(outer)
      first.value += 1
      last.value += 1
      _ = read(last)
      return [result, read(limited), read(double), read(source)]
    }
    #expect(outer.current() == 1)
    source.value = 20
    #expect(outer.current() == 1)
    #expect(list.current() == [1, 0, 40, 20])
  }
}
