import MiniRex
import MiniRexTesting
import TestSupport
import Testing

private let traps: [Trap] =
  [
    Trap("'advance' requires a duration of 0 or more") {
      ManualClock().advance(by: .seconds(-1))
    },
    Trap("'advance' requires a duration of 0 or more") {
      await ManualClock().advance(by: .seconds(-1), sleepers: 0)
    },
    Trap("'waitForSleepers' requires a count of 0 or more") {
      await ManualClock().waitForSleepers(-1)
    },
    line("a-(b", "The timeline 'a-(b' does not close its group. Write a group as"),
    line("a)", "closes a group that is not open"),
    line("((a))", "opens a group inside a group"),
    line("(a-)", "has a '-' in a group"),
    line("a|b", "continues after its end"),
    line("^a", "Write them in the line after 'during' only"),
    Trap("The timeline 'ab' has a 'b'. Add it to the table of values.") {
      _ = Timeline().broadcaster("ab", ["a": 1])
    },
    Trap("does not begin with a value") {
      _ = Timeline().value("-a")
    },
    Trap("A 'Timeline' was played twice. Create a second timeline.") {
      let timeline = Timeline()
      for _ in 0..<2 { _ = timeline.play() }
    },
    Trap("'Timeline' requires a step longer than 0, not 0.0 seconds.") {
      _ = Timeline(step: .zero)
    },
  ]
  + ["---", "!-^", "^-^", "a"].map { period in
    Trap("The timeline '\(period)' is not a subscription. Write one '^'") {
      Timeline().expect("a", during: period, from: Broadcaster<Character>.never)
    }
  }

private func line(_ line: String, _ message: String) -> Trap {
  Trap(message) { _ = Timeline().broadcaster(line) }
}

@Suite(.light) struct TrapTests {
  @Test(arguments: traps.indices)
  func `R23 an invalid argument traps with advice`(index: Int) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [index = index as Int] in
      await traps[index].mistake()
    }
    #expect(advice(result).contains(traps[index].message), "\(traps[index].message)")
  }
}
