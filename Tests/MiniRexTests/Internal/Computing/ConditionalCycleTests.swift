import Foundation
import MiniRex
import TestSupport
import Testing

/// Two computed values that read each other, but never in the same state of a flag.
@Suite(.light) struct ConditionalCycleTests {
  @Test func `R37 R39 a flag that changes during a run makes no cycle`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let flag = PublishedProperty(false)
      let other = Shared<PublishedValue<Int>?>(nil)
      let mustWrite = Shared(false)
      let first = PublishedValue.computed(name: "first") { read in
        if !read(flag) { return 1 }
        if mustWrite.value { onThreads(1) { _ in flag.value = false } }
        return other.value.map { read($0) } ?? 0
      }
      let second = PublishedValue.computed(name: "second") { read in
        read(flag) ? 2 : read(first)
      }
      other.value = second
      #expect(second.current() == 1)
      flag.value = true
      mustWrite.value = true
      #expect(first.current() == 1)
      #expect(second.current() == 1)
      other.value = nil
    }
  }

  @Test func `R37 R39 a flag that other threads change makes no cycle`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let flag = PublishedProperty(false)
      let other = Shared<PublishedValue<Int>?>(nil)
      let first = PublishedValue.computed(name: "first") { read in
        if !read(flag) { return 1 }
        return other.value.map { read($0) } ?? 0
      }
      let second = PublishedValue.computed(name: "second") { read in
        read(flag) ? 2 : read(first)
      }
      other.value = second
      let rounds = scaled(100_000)
      onThreads(3) { index in
        for _ in 0..<rounds {
          switch index {
          case 0: flag.value.toggle()
          case 1: _ = first.current()
          default: _ = second.current()
          }
        }
      }
      // Results of different states of the flag may retain each other.
      #expect(first.current() == (flag.value ? 2 : 1))
      #expect(second.current() == (flag.value ? 2 : 1))
      other.value = nil
    }
  }
}
