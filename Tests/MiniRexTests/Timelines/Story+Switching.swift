import MiniRex
import MiniRexTesting
import TestSupport

extension Story {
  static let switching: [Story] = [
    Story("switchToLatest leaves the old one when a new one comes") {
      let one = $0.broadcaster("  -a-a-a-a|")
      let two = $0.broadcaster("  -b-b-b-b|")
      let turns = $0.broadcaster("x---y---|", ["x": one, "y": two])
      $0.expect("                 -a-a-b-b|", from: turns.switchToLatest())
    },
    Story("switchToLatest ends when the outer and the inner have, the inner last") {
      let one = $0.broadcaster("  -a-a-a|")
      let turns = $0.broadcaster("x-|", ["x": one])
      $0.expect("                 -a-a-a|", from: turns.switchToLatest())
    },
    Story("switchToLatest ends when the outer and the inner have, the outer last") {
      let one = $0.broadcaster("  -a|")
      let turns = $0.broadcaster("x---|", ["x": one])
      $0.expect("                 -a--|", from: turns.switchToLatest())
    },
    Story("switchToLatest waits for the last one only") {
      let one = $0.broadcaster("  -a-------|")
      let two = $0.broadcaster("  -----b|")
      let turns = $0.broadcaster("x--y|", ["x": one, "y": two])
      $0.expect("                 -a---b|", from: turns.switchToLatest())
    },
    Story("switchToLatest of none ends with the outer") {
      let turns = $0.broadcaster("---|", [Character: Broadcaster<Character>]())
      $0.expect("                 ---|", from: turns.switchToLatest())
    },
    Story("switchToLatest in one step subscribes to each, and stays with the last") {
      let one = $0.value("        a--a-A-|")
      let two = $0.value("        b--c---|")
      let turns = $0.broadcaster("-(xy)-----|", ["x": one, "y": two])
      $0.expect("                 -(ab)-c---|", from: turns.switchToLatest())
    },
    Story("switchToLatest to the same one again subscribes again") {
      let one = $0.value("        a-b-----|")
      let turns = $0.broadcaster("x---x---|", ["x": one])
      $0.expect("                 a-b-b---|", from: turns.switchToLatest())
    },
    Story("switchToLatest of what has ended is over with it") {
      let one = $0.broadcaster("  a|")
      let turns = $0.broadcaster("--x-|", ["x": one])
      $0.expect("                 ----|", from: turns.switchToLatest())
    },
    Story("switchToLatest of values begins with the current one of the current one") {
      let one = $0.value("   a-b---c|")
      let two = $0.value("   p---q-r|")
      let turns = $0.value(" x--y----|", ["x": one, "y": two])
      $0.expect("            a-bpq-r-|", from: turns.switchToLatest())
      $0.expect("            -abpq-r-|", during: "-^", from: turns.switchToLatest())
    },
    Story("switchToLatest of values skips what is the same across two of them") {
      let one = $0.value("   a-b------|")
      let two = $0.value("   b-----c--|")
      let turns = $0.value(" x---y----|", ["x": one, "y": two])
      $0.expect("            a-b---c--|", from: turns.switchToLatest())
    },
    Story("switchToLatest leaves both when its subscriber does") {
      let one = $0.value("   a-b-c-d")
      let turns = $0.value(" x------", ["x": one])
      $0.expect("            -ab----", during: "-^-!", from: turns.switchToLatest())
    },
    Story("switchToLatest of a late value keeps the old value until the new one comes") {
      let one = $0.value("   a-----|")
      let late = $0.value("  b-----|").delay(for: .seconds(2), clock: $0.clock)
      let turns = $0.value(" x-y---|", ["x": one, "y": late])
      $0.expect("            a---b-|", from: turns.switchToLatest())
    },
    Story("flatMapLatest has the publisher of the last update") {
      let one = $0.numbers("    -1-1-1-1|")
      let turns = $0.numbers("  2---5---|")
      $0.expect(
        "               -2-2-5-5|", from: turns.flatMapLatest { turn in one.map { $0 * turn } })
    },
    Story("flatMapLatest of a broadcaster takes publishers of any kind, here values") {
      let letter = $0.value("     a-b-c---|")
      let turns = $0.broadcaster("-x-x----|")
      $0.expect("                 -abbc---|", from: turns.flatMapLatest { _ in letter })
    },
    Story("flatMapLatest of a value keeps the kind, and skips what is the same") {
      let width = $0.number(" 2---3-|")
      let height = $0.number("1-3-2-|")
      let area = width.flatMapLatest { width in height.map { $0 * width } }
      $0.expect("             2-6-(96)-|", from: area)
      $0.expect("             ---6(96)-|", during: "---^", from: area)
    },
    Story("flatMapLatest leaves a task that is overtaken") {
      let clock = $0.clock
      let words = $0.broadcaster("a-b---c|")
      let search = words.flatMapLatest { word in
        Broadcaster<Character>.sequence([word]).delay(for: .seconds(3), clock: clock)
      }
      $0.expect("                 -----b---(c|)", from: search)
    },
  ]

  static let flattening: [Story] = [
    Story("flatMap follows all of them") {
      let one = $0.broadcaster("  -a-a-a-a|")
      let two = $0.broadcaster("  -b-b-b-b-b|")
      let turns = $0.broadcaster("x--y|", ["x": one, "y": two])
      $0.expect("                 -a-a-(ab)-(ab)-b|", from: turns.flatMap(limit: .max) { $0 })
    },
    Story("flatMap follows so many at once, and the next when one has ended") {
      let one = $0.broadcaster("    -a---|")
      let two = $0.broadcaster("    --b-----b|")
      let three = $0.broadcaster("  --c---c-c|")
      let turns = $0.broadcaster("  (xyz)|", ["x": one, "y": two, "z": three])
      $0.expect("                   -ab---c-(bc)|", from: turns.flatMap(limit: 2) { $0 })
    },
    Story("flatMap of one at a time is one after the other") {
      let clock = $0.clock
      let words = $0.broadcaster("abc-|")
      let slow = words.flatMap(limit: 1) { word in
        Broadcaster<Character>.sequence([word]).delay(for: .seconds(3), clock: clock)
      }
      $0.expect("                 ---a--b--(c|)", from: slow)
    },
    Story("flatMap leaves all of them, and what waits, when its subscriber does") {
      let one = $0.value("        a-b-c-d")
      let turns = $0.broadcaster("xx-----", ["x": one])
      $0.expect("                 -ab----", during: "-^-!", from: turns.flatMap(limit: 1) { $0 })
    },
    Story("flatMap of a value begins with its current one") {
      let numbers = $0.number("2-3-|")
      let twice = numbers.flatMap(limit: 1) { Broadcaster.sequence([$0, $0]) }
      $0.expect("              (22)-(33)-|", from: twice)
    },
  ]

  static let sharing: [Story] = [
    Story("share gives late subscribers of a broadcaster what comes from then on") {
      let letters = $0.broadcaster("a-b-c-|").share()
      $0.expect("                   a-b-c-|", from: letters)
      $0.expect("                   ----c-|", during: "---^", from: letters)
    },
    Story("share gives late subscribers of a value the current one at once") {
      let letter = $0.value("a-b-c-|").share()
      $0.expect("             a-b-c-|", from: letter)
      $0.expect("             ---bc-|", during: "---^", from: letter)
    },
    Story("share runs what is above it once") {
      let sum = $0.numbers("1-2-3-|").scan(0) { $0 + $1 }.share()
      $0.expect("           1-3-6-|", from: sum)
      $0.expect("           ----6-|", during: "---^", from: sum)
    },
    Story("share forgets when the last has left, and begins anew with the next") {
      let sum = $0.numbers("1-2-3-4-|").scan(0) { $0 + $1 }.share()
      $0.expect("           1-3-----", during: "^--!", from: sum)
      $0.expect("           ----3-7-|", during: "---^", from: sum)
    },
    Story("share stays connected while somebody is left") {
      let sum = $0.numbers("1-2-3-4-|").scan(0) { $0 + $1 }.share()
      $0.expect("           --3-6---", during: "-^---!", from: sum)
      $0.expect("           1-3-----", during: "^---!", from: sum)
      $0.expect("           ----6-A-|", during: "---^", from: sum)
    },
    Story("share has the value that was delivered last, not a newer one that is held back") {
      let calm = $0.value("a-b----|").debounce(for: .seconds(3), clock: $0.clock).share()
      $0.expect("          a----b-|", from: calm)
      $0.expect("          ---a-b-|", during: "---^", from: calm)
    },
    Story("share of a value that has ended gives its last and the end") {
      let letter = $0.value("a-b|").share()
      $0.expect("             a-b|", from: letter)
      $0.expect("             -----(b|)", during: "-----^", from: letter)
    },
    Story("share of what has an end begins anew after it") {
      let letters = Broadcaster<Character>.sequence(["a", "b"]).share()
      $0.expect("(ab|)", from: letters)
      $0.expect("--(ab|)", during: "--^", from: letters)
    },
    Story("share of one that is shared by two halves calls both in their order") {
      let letters = $0.broadcaster("a-b-|").share()
      $0.expect("                   (aa)-(bb)-|", from: merge(letters, letters))
    },
  ]
}
