import MiniRex
import MiniRexTesting

extension Story {
  static let merging: [Story] = [
    Story("merge combines several publishers into one order, and finishes with the last of them") {
      let one = $0.broadcaster("a--b|")
      let two = $0.broadcaster("-x-y--|")
      $0.expect("               ax-(by)--|", from: merge(one, two))
    },
    Story("merge of a value starts with the current value") {
      let letters = $0.broadcaster("--a-|")
      let letter = $0.value("      x--y|")
      $0.expect("                   x-ay|", from: merge(letters, letter))
      $0.expect("                   --(xa)y|", during: "--^", from: merge(letters, letter))
    },
    Story("merge of a publisher with itself emits twice") {
      let letters = $0.broadcaster("a-b-|")
      $0.expect("                   (aa)-(bb)-|", from: merge(letters, letters))
    },
    Story("merge continues when one input finishes, inside subscribe as well") {
      let letters = $0.broadcaster("--a-|")
      $0.expect(
        "                   x-a-|", from: merge(letters, Broadcaster<Character>.sequence(["x"])))
    },
    Story("merge of finished publishers finishes immediately") {
      let none = $0.broadcaster("|")
      $0.expect("                   -|", during: "-^", from: merge([none, none]))
    },
    Story("merge cancels all inputs with its subscription") {
      let one = $0.broadcaster("a-a-a-a")
      let two = $0.broadcaster("-x-x-x-")
      $0.expect("               axa----", during: "^--!", from: merge(one, two))
    },
  ]

  static let following: [Story] = [
    Story("prefix until finishes at the first signal, and drops an update of the same step") {
      let letters = $0.broadcaster("a-b-c-d-|")
      let signal = $0.broadcaster(" ---x--x-|")
      let own = letters.filter { $0 > "b" }
      $0.expect("                   a-b|", from: letters.prefix(until: signal))
      $0.expect("                   a-b-|", from: letters.prefix(until: own))
    },
    Story("prefix until finishes with its publisher, not with the signal") {
      let letters = $0.broadcaster("a-b-c-|")
      let signal = $0.broadcaster(" --|")
      $0.expect("                   a-b-c-|", from: letters.prefix(until: signal))
    },
    Story("drop until drops the updates before the first signal") {
      let letters = $0.broadcaster("a-b-c-d-|")
      let signal = $0.broadcaster(" ---x-x--|")
      let later = letters.drop(until: signal)
      $0.expect("                   ----c-d-|", from: later)
      $0.expect("                   ------d-|", during: "----^", from: later)
    },
    Story("drop until finishes with a signal that never came") {
      let letters = $0.broadcaster("a-b-c-|")
      let signal = $0.broadcaster(" --|")
      $0.expect("                   --|", from: letters.drop(until: signal))
    },
    Story("prepend starts with its own updates for each subscriber") {
      let letters = $0.broadcaster("-a-b-|")
      let known = letters.prepend("x", "y")
      $0.expect("                   (xy)a-b-|", from: known)
      $0.expect("                   --(xy)b-|", during: "--^", from: known)
    },
    Story("prepend of a value emits the current value next") {
      let letter = $0.value("a-b-|")
      $0.expect("             (xa)-b-|", from: letter.prepend("x"))
    },
    Story("append continues with the second publisher when the first finishes") {
      let letters = $0.broadcaster("a-b|")
      let others = $0.broadcaster(" p--q-r|")
      $0.expect("                   a-bq-r|", from: letters.append(others))
    },
    Story("append of a value continues with its value at that time") {
      let letters = $0.broadcaster("a-b|")
      let letter = $0.value("      p-q--r|")
      $0.expect("                   a-bq-r|", from: letters.append(letter))
    },
  ]

  static let combining: [Story] = [
    Story(
      "combineLatest emits the current values of all inputs, and finishes with the last of them"
    ) {
      let one = $0.number("1--2-|")
      let two = $0.number("4-5---6|")
      $0.expect("          5-67--8|", from: combineLatest(one, two) { $0 + $1 })
    },
    Story("combineLatest emits two updates for two sources that change in one step") {
      let one = $0.number("1-2-|")
      let two = $0.number("4-6-|")
      $0.expect("          5-(68)-|", from: combineLatest(one, two) { $0 + $1 })
    },
    Story("combineLatest of a diamond emits once, when both inputs have changed") {
      let number = $0.number("1--2--|")
      let tens = number.map { $0 * 10 }
      $0.expect("              B--M--|", from: combineLatest(number, tens) { $0 + $1 })
      $0.expect("              B--M--|", from: combineLatest(tens, number) { $0 + $1 })
    },
    Story("combineLatest skips equal results") {
      let one = $0.number("1-2-1-|")
      let two = $0.number("1-----|")
      $0.expect("          1-----|", from: combineLatest(one, two) { _, number in number })
    },
    Story("combineLatest of three inputs emits first when all inputs have a value") {
      let one = $0.number("1----|")
      let two = $0.number("2-3--|")
      let three = $0.number("3--1-|")
      let sum = combineLatest(one, two, three) { $0 + $1 + $2 }
      $0.expect("            6-75-|", from: sum)
      $0.expect("            -67--", during: "-^-!", from: sum)
    },
    Story("combineLatest waits for a delayed first value") {
      let one = $0.number("1-2--|")
      let late = $0.number("4-5--|").delay(for: .seconds(3), clock: $0.clock)
      $0.expect("           ---6-(7|)", from: combineLatest(one, late) { $0 + $1 })
    },
  ]

  static let pairing: [Story] = [
    Story("withLatest pairs with the current value, and ignores changes of that value") {
      let numbers = $0.numbers("-1--1--1|")
      let number = $0.number("  2-3--4--|")
      $0.expect("               -3--4--5|", from: numbers.withLatest(from: number).map { $0 + $1 })
    },
    Story("withLatest finishes with its publisher, not with the value") {
      let numbers = $0.numbers("-1--1|")
      let number = $0.number("  2-3|")
      $0.expect("               -3--4|", from: numbers.withLatest(from: number).map { $0 + $1 })
    },
    Story("withLatest of a value starts with the pair of current values") {
      let one = $0.number("1-2---3|")
      let two = $0.number("4---5--|")
      let sum = one.withLatest(from: two).map { $0 + $1 }
      $0.expect("          5-6---8|", from: sum)
      $0.expect("          ---6--8|", during: "---^", from: sum)
    },
    Story("withLatest pairs with the changes that precede it in the same step") {
      let number = $0.number("  1-(23)-|")
      let numbers = $0.numbers("--1   -|")
      $0.expect("               --4   -|", from: numbers.withLatest(from: number).map { $0 + $1 })
    },
    Story("withLatest of a diamond pairs each update with its derived value") {
      let number = $0.number("1-2-3-|")
      let pair = number.withLatest(from: number.map { $0 * 10 }).map { $0 + $1 }
      $0.expect("              B-M-X-|", from: pair)
    },
    Story("withLatest drops updates before a delayed first value") {
      let numbers = $0.numbers("-1-1-1|")
      let late = $0.number("    2-----|").delay(for: .seconds(2), clock: $0.clock)
      $0.expect("               ---3-3|", from: numbers.withLatest(from: late).map { $0 + $1 })
    },
    Story("withLatest of a debounced value pairs with its last emitted value") {
      let numbers = $0.numbers("-1-1-1|")
      let calm = $0.number("    2-3---|").debounce(for: .seconds(2), clock: $0.clock)
      $0.expect("               -3-3-4|", from: numbers.withLatest(from: calm).map { $0 + $1 })
    },
    Story("withLatest of a broadcaster drops updates before its first update") {
      let numbers = $0.numbers("-1--1--1|")
      let others = $0.numbers(" ---2-3--|")
      $0.expect("               ----3--4|", from: numbers.withLatest(from: others).map { $0 + $1 })
    },
    Story("withLatest cancels both inputs with its subscription") {
      let numbers = $0.numbers("-1-1-1|")
      $0.expect(
        "                       -6-----", during: "^-!",
        from: numbers.withLatest(from: $0.number("5")).map { $0 + $1 })
    },
  ]
}
