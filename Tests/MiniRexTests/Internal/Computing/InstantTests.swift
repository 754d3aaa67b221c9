import MiniRex
import TestSupport
import Testing

/// A value that changes and changes back while a result is compared with it.
@Suite(.light) struct InstantTests {
  @Test func `R37 a result is not claimed for an instant at which a dependency differed`() {
    let source = PublishedProperty(0)
    let hooked = PublishedProperty(Hooked())
    let value = PublishedValue.computed { read in
      _ = read(hooked)
      return read(source)
    }
    #expect(value.current() == 0)
    source.value = 1
    hooked.value = Hooked { source.value = 0 }
    let reader = PublishedValue.computed { read in
      let first = read(source)
      _ = value.current()
      return [first, read(value)]
    }
    #expect(reader.current() == [0, 0])
  }

  @Test func `R37 no run sees two states of a source that changes back`() async {
    let source = PublishedProperty(false)
    let mixed = Shared(0)
    let plain = PublishedValue.computed { read in read(source) }
    let negated = PublishedValue.computed { read in !read(plain) }
    let value = PublishedValue.computed { read in
      let all = [read(source), read(plain), !read(negated), read(source.publisher.map { $0 })]
      if Set(all).count > 1 { mixed.increment() }
      return all[0]
    }
    let last = Shared(false)
    let subscription = value.subscribe { last.value = $0 }
    let rounds = scaled(20_000)
    onThreads(4) { index in
      for round in 1...rounds {
        switch index {
        case 0: source.value = round % 2 == 0
        case 1: _ = (negated.current(), plain.current())
        default: _ = value.current()
        }
      }
    }
    #expect(mixed.value == 0)
    await until { last.value == source.value }
    #expect(value.current() == source.value)
    subscription.invalidate()
  }
}

/// Equals every value of its type, and calls a closure when it is compared.
private struct Hooked: Sendable, Equatable {
  var hook: @Sendable () -> Void = {}

  static func == (left: Hooked, right: Hooked) -> Bool {
    left.hook()
    right.hook()
    return true
  }
}
