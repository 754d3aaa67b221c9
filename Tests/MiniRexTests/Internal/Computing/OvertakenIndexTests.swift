import MiniRex
import TestSupport
import Testing

/// A subscription follows changes through an index of its dependencies, and another reader of the
/// same computed values may find dependencies that the index does not have yet.
@Suite(.light) struct OvertakenIndexTests {
  /// In a separate process, because writes of other tests move the change clock.
  @Test func `R16 R36 a dependency that another reader has found is not skipped`() async {
    await #expect(processExitsWith: .success) {
      let flag = PublishedProperty(false)
      let source = PublishedProperty(1)
      let leaf = PublishedValue.computed { read in read(source) }
      let value = PublishedValue.computed { read in read(flag) ? read(leaf) : 0 }
      let outer = PublishedValue.computed { read in read(value) * 10 }
      // It is called before the computed values.
      let first = flag.publisher.subscribe { isSet in
        if !isSet { return }
        #expect(outer.current() == 10)
        source.value = 2
      }
      let values = Shared([Int]())
      let outers = Shared([Int]())
      let second = value.subscribe { values.append($0) }
      let third = outer.subscribe { outers.append($0) }
      flag.value = true
      #expect(values.value == [0, 2])
      #expect(outers.value == [0, 20])
      #expect([value.current(), outer.current()] == [2, 20])
      source.value = 3
      #expect(values.value == [0, 2, 3])
      #expect(outers.value == [0, 20, 30])
      for subscription in [first, second, third] { subscription.invalidate() }
    }
  }
}
