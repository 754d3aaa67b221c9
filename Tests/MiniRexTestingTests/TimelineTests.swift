import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct TimelineTests {
  let timeline = Timeline()

  @Test func `letters are updates, a group is one step, and a bar is the end`() {
    let left = timeline.broadcaster("a-b   -   -|")
    let right = timeline.broadcaster("--c   -(de)|")
    timeline.expect("                 a-(bc)-(de)|", from: merge(left, right))
    #expect(timeline.play() == nil)
  }

  @Test func `a table maps letters to values for inputs and expectations`() {
    let numbers = timeline.broadcaster("-1-2-|", ["1": 1, "2": 2])
    timeline.expect("-a-b-|", ["a": "10", "b": "20"], from: numbers.map { "\($0 * 10)" })
    #expect(timeline.play() == nil)
  }

  @Test func `a value has its first letter before the first subscription`() {
    let value = timeline.value("a--b-(cc)d|")
    timeline.expect("           a--b-c   d|", from: value)
    timeline.expect("           --ab-", during: "--^--!", from: value)
    timeline.expect("           ------------(d|)", during: "------------^", from: value)
    #expect(value.current() == "a")
    #expect(timeline.play() == nil)
    #expect(value.current() == "d")
  }

  @Test func `a subscription receives its first step and not the step of its cancellation`() {
    let letters = timeline.broadcaster("abcde|")
    timeline.expect("-bc", during: "-^-!", from: letters)
    timeline.expect("---", during: "------^!", from: letters.filter { $0 == "x" })
    #expect(timeline.play()?.description.contains("expected     ---\nreceived     ------|") == true)
  }

  @Test func `tasks finish with the result in the line, or end without one`() {
    let fetch = timeline.task("--s", ["s": Result<Int, Never>.success(1)])
    timeline.expect("--(s|)", ["s": .success(1)], from: fetch)
    timeline.expect("---(s|)", ["s": .success(1)], during: "---^", from: fetch)
    let none = timeline.task("--|", [Character: Result<Int, Never>]())
    timeline.expect("--|", ["s": .success(1)], from: none)
    #expect(timeline.play() == nil)
  }

  @Test func `a letter may be another input`() {
    let one = timeline.broadcaster("-a-a-a-a")
    let two = timeline.broadcaster("-b-b-b-b")
    let both = timeline.broadcaster("1---2---", ["1": one, "2": two])
    timeline.expect("-a-a-b-b", from: both.switchToLatest())
    #expect(timeline.play() == nil)
  }

  @Test func `due actions precede inputs in a step, and zero delays follow them`() {
    let letters = timeline.broadcaster("a-b---")
    let clock = timeline.clock
    timeline.expect("--(ab)", from: merge(letters.delay(for: .seconds(2), clock: clock), letters))
    timeline.expect("a-b", from: letters.delay(for: .zero, clock: clock))
    #expect(timeline.play()?.description.contains("received     a-(ab)-b") == true)
  }

  @Test func `a step has the given duration`() {
    let timeline = Timeline(step: .milliseconds(100))
    let letters = timeline.broadcaster("a-b----")
    let clock = timeline.clock
    timeline.expect("---a-b", from: letters.delay(for: .milliseconds(300), clock: clock))
    timeline.expect("---a-b", from: letters.delay(for: .milliseconds(399), clock: clock))
    #expect(timeline.play() == nil)
    #expect(clock.now.offset == .milliseconds(600))
  }

  @Test func `a difference is a picture with a mark under the first step that differs`() {
    let left = timeline.broadcaster("a-(bb)--|", ["a": 1, "b": 2])
    _ = timeline.value("t---f")
    timeline.expect("         A-B--C|", ["A": 1, "B": 2, "C": 3], during: "^----!", from: left)
    timeline.expect("         a-(bb)--|", ["a": 1, "b": 2], from: left)
    timeline.expect("         a", ["a": 1], from: left.map { $0 + 40 })
    #expect(
      timeline.play()?.description == """
        The updates differ from step 0 on, counting from 0:

        broadcaster  a-(bb)--|
        value        t--   -f
        during       ^--   --!
        expected     A-B   --C|
        received     A-(BB)
                       ^
        expected     a-(bb)--|
        received     a-(bb)--|
        expected     a
        received     ?-(??)--|
                     ^
        ? is 41
        ? is 42
        ? is 42
        """)
  }

  @Test func `an update from another thread counts in the step of its delivery`() {
    let source = BroadcastSource<Character>()
    let done = DispatchSemaphore(value: 0)
    let subscription = timeline.broadcaster("--a").subscribe { letter in
      Thread.detachNewThread {
        source.broadcast(letter)
        done.signal()
      }
      done.waitAtMost()
    }
    timeline.expect("--a", from: source.publisher)
    #expect(timeline.play() == nil)
    withExtendedLifetime(subscription) {}
  }

  @Test func `R9 an == that plays another timeline finds no lock held`() {
    struct Nosy: Equatable, Sendable {
      let letter: Character

      static func == (one: Nosy, other: Nosy) -> Bool {
        let timeline = Timeline()
        timeline.expect("a", from: timeline.broadcaster("a"))
        return timeline.play() == nil && one.letter == other.letter
      }
    }
    let nosy: [Character: Nosy] = ["a": Nosy(letter: "a")]
    timeline.expect("-a", nosy, from: timeline.broadcaster("-a", nosy))
    #expect(timeline.play() == nil)
  }

  @Test func `the updates of a timeline are released with it`() {
    weak var thing: Thing?
    do {
      let new = Thing()
      thing = new
      let timeline = Timeline()
      let things = timeline.broadcaster("a", ["a": new])
      timeline.expect("a", ["a": 1], from: things.map { _ in 1 })
      #expect(timeline.play() == nil)
    }
    #expect(thing == nil)
  }
}

private final class Thing: Sendable {}
