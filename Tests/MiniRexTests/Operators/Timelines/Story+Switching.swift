import MiniRex
import MiniRexTesting
import TestSupport

extension Story {
  static let switching: [Story] = [
    Story("switchToLatest cancels the previous inner subscription") {
      let one = $0.broadcaster("  -a-a-a-a|")
      let two = $0.broadcaster("  -b-b-b-b|")
      let turns = $0.broadcaster("x---y---|", ["x": one, "y": two])
      $0.expect("                 -a-a-b-b|", from: turns.switchToLatest())
    },
    Story("switchToLatest finishes after the outer and the inner publisher, inner last") {
      let one = $0.broadcaster("  -a-a-a|")
      let turns = $0.broadcaster("x-|", ["x": one])
      $0.expect("                 -a-a-a|", from: turns.switchToLatest())
    },
    Story("switchToLatest finishes after the outer and the inner publisher, outer last") {
      let one = $0.broadcaster("  -a|")
      let turns = $0.broadcaster("x---|", ["x": one])
      $0.expect("                 -a--|", from: turns.switchToLatest())
    },
    Story("switchToLatest waits only for the last inner publisher") {
      let one = $0.broadcaster("  -a-------|")
      let two = $0.broadcaster("  -----b|")
      let turns = $0.broadcaster("x--y|", ["x": one, "y": two])
      $0.expect("                 -a---b|", from: turns.switchToLatest())
    },
    Story("switchToLatest without inner publishers finishes with the outer publisher") {
      let turns = $0.broadcaster("---|", [Character: Broadcaster<Character>]())
      $0.expect("                 ---|", from: turns.switchToLatest())
    },
    Story("switchToLatest subscribes to each publisher of one step, and keeps the last") {
      let one = $0.value("        a--a-A-|")
      let two = $0.value("        b--c---|")
      let turns = $0.broadcaster("-(xy)-----|", ["x": one, "y": two])
      $0.expect("                 -(ab)-c---|", from: turns.switchToLatest())
    },
    Story("switchToLatest to the same publisher subscribes again") {
      let one = $0.value("        a-b-----|")
      let turns = $0.broadcaster("x---x---|", ["x": one])
      $0.expect("                 a-b-b---|", from: turns.switchToLatest())
    },
    Story("switchToLatest to a finished publisher emits nothing and finishes with the outer") {
      let one = $0.broadcaster("  a|")
      let turns = $0.broadcaster("--x-|", ["x": one])
      $0.expect("                 ----|", from: turns.switchToLatest())
    },
    Story("switchToLatest of values starts with the current value of the current publisher") {
      let one = $0.value("   a-b---c|")
      let two = $0.value("   p---q-r|")
      let turns = $0.value(" x--y----|", ["x": one, "y": two])
      $0.expect("            a-bpq-r-|", from: turns.switchToLatest())
      $0.expect("            -abpq-r-|", during: "-^", from: turns.switchToLatest())
    },
    Story("switchToLatest of values skips equal values of two publishers") {
      let one = $0.value("   a-b------|")
      let two = $0.value("   b-----c--|")
      let turns = $0.value(" x---y----|", ["x": one, "y": two])
      $0.expect("            a-b---c--|", from: turns.switchToLatest())
    },
    Story("switchToLatest cancels both subscriptions with its own") {
      let one = $0.value("   a-b-c-d")
      let turns = $0.value(" x------", ["x": one])
      $0.expect("            -ab----", during: "-^-!", from: turns.switchToLatest())
    },
    Story("switchToLatest to a delayed value keeps the old value until the new value arrives") {
      let one = $0.value("   a-----|")
      let late = $0.value("  b-----|").delay(for: .seconds(2), clock: $0.clock)
      let turns = $0.value(" x-y---|", ["x": one, "y": late])
      $0.expect("            a---b-|", from: turns.switchToLatest())
    },
    Story("flatMapLatest emits the updates of the publisher for the last update") {
      let one = $0.numbers("    -1-2-3-4|")
      let turns = $0.numbers("  2---5---|")
      $0.expect(
        "               -2-4-F-K|", from: turns.flatMapLatest { turn in one.map { $0 * turn } })
    },
    Story("flatMapLatest of a broadcaster accepts inner publishers of any kind") {
      let letter = $0.value("     a-b-c---|")
      let turns = $0.broadcaster("-x-x----|")
      $0.expect("                 -abbc---|", from: turns.flatMapLatest { _ in letter })
    },
    Story("flatMapLatest of a value preserves the kind and skips equal values") {
      let width = $0.number(" 2---3-|")
      let height = $0.number("1-3-2-|")
      let area = width.flatMapLatest { width in height.map { $0 * width } }
      $0.expect("             2-6-(96)-|", from: area)
      $0.expect("             ---6(96)-|", during: "---^", from: area)
    },
    Story("flatMapLatest cancels a search that is replaced") {
      let clock = $0.clock
      let words = $0.broadcaster("a-b---c|")
      let search = words.flatMapLatest { word in
        Broadcaster<Character>.sequence([word]).delay(for: .seconds(3), clock: clock)
      }
      $0.expect("                 -----b---(c|)", from: search)
    },
  ]

  static let flattening: [Story] = [
    Story("flatMap emits the updates of all inner publishers") {
      let one = $0.broadcaster("  -a-a-a-a|")
      let two = $0.broadcaster("  -b-b-b-b-b|")
      let turns = $0.broadcaster("x--y|", ["x": one, "y": two])
      $0.expect("                 -a-a-(ab)-(ab)-b|", from: turns.flatMap(limit: .max) { $0 })
    },
    Story("flatMap runs a limited number of publishers, and starts the next when one finishes") {
      let one = $0.broadcaster("    -a---|")
      let two = $0.broadcaster("    --b-----b|")
      let three = $0.broadcaster("  --c---c-c|")
      let turns = $0.broadcaster("  (xyz)|", ["x": one, "y": two, "z": three])
      $0.expect("                   -ab---c-(bc)|", from: turns.flatMap(limit: 2) { $0 })
    },
    Story("flatMap with a limit of 1 concatenates") {
      let clock = $0.clock
      let words = $0.broadcaster("abc-|")
      let slow = words.flatMap(limit: 1) { word in
        Broadcaster<Character>.sequence([word]).delay(for: .seconds(3), clock: clock)
      }
      $0.expect("                 ---a--b--(c|)", from: slow)
    },
    Story("flatMap cancels all inner publishers and the queue with its subscription") {
      let one = $0.value("        a-b-c-d")
      let turns = $0.broadcaster("xx-----", ["x": one])
      $0.expect("                 -ab----", during: "-^-!", from: turns.flatMap(limit: 1) { $0 })
    },
    Story("flatMap of a value starts with the current value") {
      let numbers = $0.number("2-3-|")
      let twice = numbers.flatMap(limit: 1) { Broadcaster.sequence([$0, $0]) }
      $0.expect("              (22)-(33)-|", from: twice)
    },
  ]

  static let sharing: [Story] = [
    Story("share of a broadcaster gives late subscribers only new updates") {
      let letters = $0.broadcaster("a-b-c-|").share()
      $0.expect("                   a-b-c-|", from: letters)
      $0.expect("                   ----c-|", during: "---^", from: letters)
    },
    Story("share of a value gives late subscribers the current value immediately") {
      let letter = $0.value("a-b-c-|").share()
      $0.expect("             a-b-c-|", from: letter)
      $0.expect("             ---bc-|", during: "---^", from: letter)
    },
    Story("share runs upstream operators once") {
      let numbers = $0.numbers("1-2-3-|")
      let sum = numbers.scan(0) { $0 + $1 }.share()
      $0.expect("               1-3-6-|", from: sum)
      $0.expect("               ----6-|", during: "---^", from: sum)
    },
    Story("share restarts upstream operators after the last cancellation") {
      let sum = $0.numbers("1-2-3-4-|").scan(0) { $0 + $1 }.share()
      $0.expect("           1-3-----", during: "^--!", from: sum)
      $0.expect("           ----3-7-|", during: "---^", from: sum)
    },
    Story("share stays connected while one subscriber remains") {
      let sum = $0.numbers("1-2-3-4-|").scan(0) { $0 + $1 }.share()
      $0.expect("           --3-6---", during: "-^---!", from: sum)
      $0.expect("           1-3-----", during: "^---!", from: sum)
      $0.expect("           ----6-A-|", during: "---^", from: sum)
    },
    Story("share of a debounced value starts late subscribers with the last emitted value") {
      let calm = $0.value("a-b----|").debounce(for: .seconds(3), clock: $0.clock).share()
      $0.expect("          a----b-|", from: calm)
      $0.expect("          ---a-b-|", during: "---^", from: calm)
    },
    Story("share of a finished value emits its last value and finishes") {
      let letter = $0.value("a-b|").share()
      $0.expect("             a-b|", from: letter)
      $0.expect("             -----(b|)", during: "-----^", from: letter)
    },
    Story("share of a finite sequence restarts after its end") {
      let letters = Broadcaster<Character>.sequence(["a", "b"]).share()
      $0.expect("(ab|)", from: letters)
      $0.expect("--(ab|)", during: "--^", from: letters)
    },
    Story("share with two subscribers of one merge emits to both in order") {
      let letters = $0.broadcaster("a-b-|").share()
      $0.expect("                   (aa)-(bb)-|", from: merge(letters, letters))
    },
  ]
}
