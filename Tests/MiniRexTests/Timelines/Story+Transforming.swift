import MiniRex
import MiniRexTesting

extension Story {
  static let transforming: [Story] = [
    Story("map transforms each update of a broadcaster, duplicates too") {
      let numbers = $0.numbers("1-2-3-|")
      $0.expect("               0-1-1-|", from: numbers.map { $0 / 2 })
    },
    Story("map of a value skips what comes out the same") {
      let number = $0.number("1-2-3-4-|")
      $0.expect("              0-1---2-|", from: number.map { $0 / 2 })
    },
    Story("map of a value gives a late subscriber the first at once") {
      let number = $0.number("1-2-3-4-|")
      $0.expect("              -----12-|", during: "-----^", from: number.map { $0 / 2 })
    },
    Story("scan combines from the start, and is not called with it") {
      let numbers = $0.numbers("1-2-3-|")
      $0.expect("               1-3-6-|", from: numbers.scan(0) { $0 + $1 })
    },
    Story("scan begins anew for each subscriber") {
      let numbers = $0.numbers("1-2-3-|")
      let sum = numbers.scan(9) { $0 + $1 }
      $0.expect("               A-C-F-|", from: sum)
      $0.expect("               --B-E-|", during: "-^", from: sum)
    },
    Story("scan of a value begins with the current one, and does not skip duplicates") {
      let number = $0.number("1-2-0-4-|")
      $0.expect("              1-2-2-4-|", from: number.scan(0) { max($0, $1) })
    },
    Story("pairs are each and the one before it") {
      let numbers = $0.numbers("1-3-6--|")
      $0.expect("               --2-3--|", from: numbers.pairs().map { $1 - $0 })
      $0.expect("               ----3--|", during: "--^", from: numbers.pairs().map { $1 - $0 })
    },
    Story("chunks of two come with each second, and the rest at the end") {
      let letters = $0.broadcaster("a-bcde---|")
      let words = ["x": ["a", "b"], "y": ["c", "d"], "z": ["e"]] as [Character: [Character]]
      $0.expect("                   --x-y----(z|)", words, from: letters.chunked(by: 2))
    },
    Story("publishedValue without a beginning is nil first") {
      let letter = $0.broadcaster("-a-b-|").publishedValue()
      $0.expect(
        "                          0a-b-|", ["0": nil, "a": "a", "b": "b"], from: letter)
    },
    Story("publishedValue begins with its own value, skips duplicates, and ends with its source") {
      let letters = $0.broadcaster("-aab--|")
      let letter = letters.publishedValue(initial: "a")
      $0.expect("                   a--b--|", from: letter)
      $0.expect("                   ----b-|", during: "----^", from: letter)
    },
    Story("publishedValue follows while nobody is subscribed") {
      let letters = $0.broadcaster("-b----c|")
      let letter = letters.publishedValue(initial: "a")
      $0.expect("                   ---b--c|", during: "---^", from: letter)
      $0.expect("                   -------(c|)", during: "-------^", from: letter)
    },
    Story("broadcaster forgets the kind, and with it that duplicates are skipped") {
      let number = $0.number("1-2-3-|")
      $0.expect("              1-2-3-|", from: number.broadcaster)
      $0.expect("              0-1-1-|", from: number.broadcaster.map { $0 / 2 })
    },
    Story("a value that is set to what it was is quiet") {
      let letter = $0.value("a-a-b-a-|")
      $0.expect("             a---b-a-|", from: letter)
    },
    Story("a value that has ended gives its last, and the end") {
      let letter = $0.value("a-b|")
      $0.expect("             -----(b|)", during: "-----^", from: letter)
    },
    Story("a broadcaster that has ended gives the end only") {
      let letters = $0.broadcaster("a-b|")
      $0.expect("                   -----|", during: "-----^", from: letters)
    },
  ]
}
