import MiniRex
import MiniRexTesting

extension Story {
  static let choosing: [Story] = [
    Story("filter emits the updates that satisfy its predicate, and finishes with its source") {
      let numbers = $0.numbers("1-2-34-5|")
      $0.expect("               ----34-5|", from: numbers.filter { $0 > 2 })
    },
    Story("filter of a value may skip the first value") {
      let number = $0.number("1-3-2-4-|")
      $0.expect("              --3---4-|", from: number.filter { $0 > 2 })
    },
    Story("filter that excludes every update still finishes") {
      let numbers = $0.numbers("1-2-3-|")
      $0.expect("               ------|", from: numbers.filter { _ in false })
    },
    Story("filter keeps the order within a group") {
      let numbers = $0.numbers("-(1234)-|")
      $0.expect("               -(24)  -|", from: numbers.filter { $0 % 2 == 0 })
    },
    Story("compactMap skips updates that it maps to nil") {
      let numbers = $0.numbers("0-1-0-2-|")
      $0.expect("               --6---3-|", from: numbers.compactMap { $0 == 0 ? nil : 6 / $0 })
    },
    Story("compactMap of a value emits duplicates, because it returns a broadcaster") {
      let number = $0.number("1-2-3-4|")
      $0.expect("              --1-1-2|", from: number.compactMap { $0 > 1 ? $0 / 2 : nil })
    },
    Story("removeDuplicates skips an update that equals its predecessor") {
      let letters = $0.broadcaster("aa-b-(ba)a|")
      $0.expect("                   a--b-a   -|", from: letters.removeDuplicates())
    },
    Story("removeDuplicates compares for each subscriber") {
      let letters = $0.broadcaster("a-a-a-b|")
      let changes = letters.removeDuplicates()
      $0.expect("                   a-----b|", from: changes)
      $0.expect("                   --a---b|", during: "--^", from: changes)
    },
    Story("removeDuplicates by compares with the last emitted update, not with the previous update")
    {
      let numbers = $0.numbers("1-2-3-4-5|")
      $0.expect("               1---3---5|", from: numbers.removeDuplicates { $1 - $0 < 2 })
    },
    Story("removeDuplicates by preserves a published value, whose first value is always emitted") {
      let number = $0.number("1-2-3-4-|")
      let rough = number.removeDuplicates { $0 / 2 == $1 / 2 }
      $0.expect("              1-2---4-|", from: rough)
      $0.expect("              ---2--4-|", during: "---^", from: rough)
    },
    Story("prefix while finishes at the first update that fails, without emitting it") {
      let numbers = $0.numbers("1-2-3-1-|")
      $0.expect("               1-2-|", from: numbers.prefix { $0 < 3 })
    },
    Story("prefix while finishes with its source if every update passes") {
      let numbers = $0.numbers("1-2-|")
      $0.expect("               1-2-|", from: numbers.prefix { $0 < 3 })
    },
    Story("prefix while finishes in the middle of a group") {
      let numbers = $0.numbers("-(1312)-|")
      $0.expect("               -(1|)", from: numbers.prefix { $0 < 3 })
    },
    Story("prefix while of a value whose first value fails finishes immediately") {
      let number = $0.number("5-1-|")
      $0.expect("              |", from: number.prefix { $0 < 3 })
    },
    Story("prefix while stays finished if its source continues inside subscribe") {
      let numbers = Broadcaster.sequence([1, 5, 1])
      $0.expect("(1|)", from: numbers.prefix { $0 < 3 })
    },
    Story("prefix while restarts for each subscriber") {
      let numbers = $0.numbers("1-2-3-4-1-3|")
      let small = numbers.prefix { $0 < 3 }
      $0.expect("               1-2-|", from: small)
      $0.expect("               --------1-|", during: "-------^", from: small)
    },
    Story("prefix while emits nothing after its subscriber canceled") {
      let numbers = $0.numbers("1-1-1-3-|")
      $0.expect("               1-1-----", during: "^---!", from: numbers.prefix { $0 < 3 })
    },
    Story("drop while drops updates that pass, and emits every update from the first failure on") {
      let numbers = $0.numbers("1-2-3-1-|")
      $0.expect("               ----3-1-|", from: numbers.drop { $0 < 3 })
    },
    Story("drop while that drops every update still finishes") {
      let numbers = $0.numbers("1-2-|")
      $0.expect("               ----|", from: numbers.drop { _ in true })
    },
    Story("drop while can change in the middle of a group") {
      let numbers = $0.numbers("-(1312)-|")
      $0.expect("               -(312) -|", from: numbers.drop { $0 < 3 })
    },
    Story("drop while of a value emits the first value if it fails") {
      let number = $0.number("5-1-|")
      $0.expect("              5-1-|", from: number.drop { $0 < 3 })
    },
    Story("drop while restarts for each subscriber") {
      let numbers = $0.numbers("1-3-1-3-|")
      let late = numbers.drop { $0 < 3 }
      $0.expect("               --3-1-3-|", from: late)
      $0.expect("               ------3-|", during: "---^", from: late)
    },
  ]

  static let counting: [Story] = [
    Story("prefix finishes in the step of its last update") {
      let letters = $0.broadcaster("a-b-c-|")
      $0.expect("                   a-(b|)", from: letters.prefix(2))
    },
    Story("prefix of more updates than exist finishes with its source") {
      let letters = $0.broadcaster("a-b-|")
      $0.expect("                   a-b-|", from: letters.prefix(9))
    },
    Story("prefix of 0 finishes immediately") {
      let letters = $0.broadcaster("a-b-|")
      $0.expect("                   |", from: letters.prefix(0))
    },
    Story("prefix of a value counts the first value") {
      let letter = $0.value("a-b-c-|")
      $0.expect("             (a|)", from: letter.prefix(1))
      $0.expect("             -a(b|)", during: "-^", from: letter.prefix(2))
    },
    Story("prefix counts for each subscriber") {
      let letters = $0.broadcaster("a-b-c-d-|")
      let two = letters.prefix(2)
      $0.expect("                   a-(b|)", from: two)
      $0.expect("                   --b-(c|)", during: "-^", from: two)
    },
    Story("dropFirst drops the given number of updates") {
      let letters = $0.broadcaster("a-(bc)-d-|")
      $0.expect("                   --c   -d-|", from: letters.dropFirst(2))
    },
    Story("dropFirst of a value emits only changes") {
      let letter = $0.value("a-b-c-|")
      let changes = letter.dropFirst()
      $0.expect("             --b-c-|", from: changes)
      $0.expect("             ----c-|", during: "---^", from: changes)
    },
    Story("first emits the first update and finishes") {
      let letters = $0.broadcaster("--a-b-|")
      $0.expect("                   --(a|)", neverFailing, from: letters.first())
    },
    Story("first of a value emits the current value") {
      let letter = $0.value("a-b-c-|")
      $0.expect("             ---(b|)", neverFailing, during: "---^", from: letter.first())
    },
    Story("first where waits for an update that passes") {
      let letters = $0.broadcaster("a-b-c-|")
      $0.expect("                   ----(c|)", neverFailing, from: letters.first { $0 > "b" })
    },
    Story("first where finishes without a result if no update passes") {
      let letters = $0.broadcaster("a-b-|")
      $0.expect("                   ----|", neverFailing, from: letters.first { $0 > "b" })
    },
  ]
}

/// Maps each letter to a success with that letter.
let neverFailing = Dictionary(
  uniqueKeysWithValues: "abcdefg".map { ($0, Result<Character, Never>.success($0)) })
