import MiniRex
import TestSupport
import Testing

extension ComputedTests {
  /// In a process of its own, because writes of other tests move the change clock.
  @Test func `R34 current finds one change among changes of other values`() async {
    await #expect(processExitsWith: .success) {
      let other = PublishedProperty(0)
      let properties = (0..<3).map { PublishedProperty($0) }
      let runs = Shared(0)
      let sum = PublishedValue.computed { read in
        runs.increment()
        return properties.reduce(0) { $0 + read($1) }
      }
      let reader = PublishedValue.computed { read in read(other) }
      _ = (reader.current(), sum.current())
      for count in 0..<70 {
        for place in 0...count {
          let before = runs.value
          for step in 0..<count {
            if step == place { properties[place % 3].value += 1 }
            other.value += 1
          }
          let isChanged = place < count
          #expect(sum.current() == properties.map(\.value).reduce(0, +))
          #expect(runs.value == before + (isChanged ? 1 : 0))
          #expect(reader.current() == other.value)
        }
      }
    }
  }
}
