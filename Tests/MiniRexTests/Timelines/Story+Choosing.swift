import MiniRex
import MiniRexTesting

extension Story {
  static let choosing: [Story] = [
    Story("filter lets through what is included, and ends with the source") {
      let numbers = $0.numbers("1-2-34-5|")
      $0.expect("               ----34-5|", from: numbers.filter { $0 > 2 })
    },
    Story("filter of a value may leave out the first, and gives what comes later") {
      let number = $0.number("1-3-2-4-|")
      $0.expect("              --3---4-|", from: number.filter { $0 > 2 })
    },
    Story("filter that leaves out everything still ends") {
      let numbers = $0.numbers("1-2-3-|")
      $0.expect("               ------|", from: numbers.filter { _ in false })
    },
    Story("filter keeps the order of a group") {
      let numbers = $0.numbers("-(1234)-|")
      $0.expect("               -(24)  -|", from: numbers.filter { $0 % 2 == 0 })
    },
    Story("compactMap leaves out what gives nil") {
      let numbers = $0.numbers("0-1-0-2-|")
      $0.expect("               --6---3-|", from: numbers.compactMap { $0 == 0 ? nil : 6 / $0 })
    },
    Story("compactMap of a value does not skip duplicates, because it gives a broadcaster") {
      let number = $0.number("1-2-3-4|")
      $0.expect("              --1-1-2|", from: number.compactMap { $0 > 1 ? $0 / 2 : nil })
    },
    Story("removeDuplicates skips what equals the last") {
      let letters = $0.broadcaster("aa-b-(ba)a|")
      $0.expect("                   a--b-a   -|", from: letters.removeDuplicates())
    },
    Story("removeDuplicates remembers for each subscriber") {
      let letters = $0.broadcaster("a-a-a-b|")
      let changes = letters.removeDuplicates()
      $0.expect("                   a-----b|", from: changes)
      $0.expect("                   --a---b|", during: "--^", from: changes)
    },
    Story("removeDuplicates by compares with the last let through, not with the one before") {
      let numbers = $0.numbers("1-2-3-4-5|")
      $0.expect("               1---3---5|", from: numbers.removeDuplicates { $1 - $0 < 2 })
    },
    Story("removeDuplicates by keeps a value a value, whose first always comes") {
      let number = $0.number("1-2-3-4-|")
      let rough = number.removeDuplicates { $0 / 2 == $1 / 2 }
      $0.expect("              1-2---4-|", from: rough)
      $0.expect("              ---2--4-|", during: "---^", from: rough)
    },
    Story("prefix while ends with the first that does not fit, and leaves it out") {
      let numbers = $0.numbers("1-2-3-1-|")
      $0.expect("               1-2-|", from: numbers.prefix { $0 < 3 })
    },
    Story("prefix while ends with the source if everything fits") {
      let numbers = $0.numbers("1-2-|")
      $0.expect("               1-2-|", from: numbers.prefix { $0 < 3 })
    },
    Story("prefix while ends in the middle of a group") {
      let numbers = $0.numbers("-(1312)-|")
      $0.expect("               -(1|)", from: numbers.prefix { $0 < 3 })
    },
    Story("prefix while of a value whose first does not fit ends at once") {
      let number = $0.number("5-1-|")
      $0.expect("              |", from: number.prefix { $0 < 3 })
    },
    Story("prefix while stays over, also of what calls on inside subscribe") {
      let numbers = Broadcaster.sequence([1, 5, 1])
      $0.expect("(1|)", from: numbers.prefix { $0 < 3 })
    },
    Story("prefix while begins anew for each subscriber") {
      let numbers = $0.numbers("1-2-3-4-1-3|")
      let small = numbers.prefix { $0 < 3 }
      $0.expect("               1-2-|", from: small)
      $0.expect("               --------1-|", during: "-------^", from: small)
    },
    Story("prefix while is quiet once its subscriber has left") {
      let numbers = $0.numbers("1-1-1-3-|")
      $0.expect("               1-1-----", during: "^---!", from: numbers.prefix { $0 < 3 })
    },
    Story("drop while leaves out what fits, and lets everything through from then on") {
      let numbers = $0.numbers("1-2-3-1-|")
      $0.expect("               ----3-1-|", from: numbers.drop { $0 < 3 })
    },
    Story("drop while that drops everything still ends") {
      let numbers = $0.numbers("1-2-|")
      $0.expect("               ----|", from: numbers.drop { _ in true })
    },
    Story("drop while changes its mind in the middle of a group") {
      let numbers = $0.numbers("-(1312)-|")
      $0.expect("               -(312) -|", from: numbers.drop { $0 < 3 })
    },
    Story("drop while of a value gives the first if it does not fit") {
      let number = $0.number("5-1-|")
      $0.expect("              5-1-|", from: number.drop { $0 < 3 })
    },
    Story("drop while begins anew for each subscriber") {
      let numbers = $0.numbers("1-3-1-3-|")
      let late = numbers.drop { $0 < 3 }
      $0.expect("               --3-1-3-|", from: late)
      $0.expect("               ------3-|", during: "---^", from: late)
    },
  ]

  static let counting: [Story] = [
    Story("prefix ends with the last that it lets through, in the same step") {
      let letters = $0.broadcaster("a-b-c-|")
      $0.expect("                   a-(b|)", from: letters.prefix(2))
    },
    Story("prefix of more than there is ends with the source") {
      let letters = $0.broadcaster("a-b-|")
      $0.expect("                   a-b-|", from: letters.prefix(9))
    },
    Story("prefix of none ends at once") {
      let letters = $0.broadcaster("a-b-|")
      $0.expect("                   |", from: letters.prefix(0))
    },
    Story("prefix of a value counts the first") {
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
    Story("dropFirst leaves out the first few") {
      let letters = $0.broadcaster("a-(bc)-d-|")
      $0.expect("                   --c   -d-|", from: letters.dropFirst(2))
    },
    Story("dropFirst of a value leaves only the changes") {
      let letter = $0.value("a-b-c-|")
      let changes = letter.dropFirst()
      $0.expect("             --b-c-|", from: changes)
      $0.expect("             ----c-|", during: "---^", from: changes)
    },
    Story("first is the first, and ends") {
      let letters = $0.broadcaster("--a-b-|")
      $0.expect("                   --(a|)", neverFailing, from: letters.first())
    },
    Story("first of a value is the current one") {
      let letter = $0.value("a-b-c-|")
      $0.expect("             ---(b|)", neverFailing, during: "---^", from: letter.first())
    },
    Story("first where waits for one that fits") {
      let letters = $0.broadcaster("a-b-c-|")
      $0.expect("                   ----(c|)", neverFailing, from: letters.first { $0 > "b" })
    },
    Story("first where ends without a result if none has fitted") {
      let letters = $0.broadcaster("a-b-|")
      $0.expect("                   ----|", neverFailing, from: letters.first { $0 > "b" })
    },
  ]
}

/// A letter is a success with that letter.
let neverFailing = Dictionary(
  uniqueKeysWithValues: "abcdefg".map { ($0, Result<Character, Never>.success($0)) })
