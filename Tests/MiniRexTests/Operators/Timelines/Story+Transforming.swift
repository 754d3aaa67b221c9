import MiniRex
import MiniRexTesting

extension Story {
  static let transforming: [Story] = [
    Story("map transforms every update of a broadcaster and keeps duplicates") {
      let numbers = $0.numbers("1-2-3-|")
      $0.expect("               0-1-1-|", from: numbers.map { $0 / 2 })
    },
    Story("map of a value skips equal results") {
      let number = $0.number("1-2-3-4-|")
      $0.expect("              0-1---2-|", from: number.map { $0 / 2 })
    },
    Story("map of a value gives a late subscriber the first value immediately") {
      let number = $0.number("1-2-3-4-|")
      $0.expect("              -----12-|", during: "-----^", from: number.map { $0 / 2 })
    },
    Story("scan accumulates from its initial result, and does not emit it") {
      let numbers = $0.numbers("1-2-3-|")
      $0.expect("               1-3-6-|", from: numbers.scan(0) { $0 + $1 })
    },
    Story("scan restarts for each subscriber") {
      let numbers = $0.numbers("1-2-3-|")
      let sum = numbers.scan(9) { $0 + $1 }
      $0.expect("               A-C-F-|", from: sum)
      $0.expect("               --B-E-|", during: "-^", from: sum)
    },
    Story("scan of a value starts with the current value and keeps duplicates") {
      let number = $0.number("1-2-0-4-|")
      $0.expect("              1-2-2-4-|", from: number.scan(0) { max($0, $1) })
    },
    Story("pairs emits each update with its predecessor") {
      let numbers = $0.numbers("1-3-6--|")
      $0.expect("               --2-3--|", from: numbers.pairs().map { $1 - $0 })
      $0.expect("               ----3--|", during: "--^", from: numbers.pairs().map { $1 - $0 })
    },
    Story("chunked by two emits with each second update, and the rest at the end") {
      let letters = $0.broadcaster("a-bcde---|")
      let words = ["x": ["a", "b"], "y": ["c", "d"], "z": ["e"]] as [Character: [Character]]
      $0.expect("                   --x-y----(z|)", words, from: letters.chunked(by: 2))
    },
    Story("publishedValue without an initial value is nil first") {
      let letter = $0.broadcaster("-a-b-|").publishedValue()
      $0.expect(
        "                          0a-b-|", ["0": nil, "a": "a", "b": "b"], from: letter)
    },
    Story(
      "publishedValue starts with its initial value, skips duplicates, and finishes with its source"
    ) {
      let letters = $0.broadcaster("-aab--|")
      let letter = letters.publishedValue(initial: "a")
      $0.expect("                   a--b--|", from: letter)
      $0.expect("                   ----b-|", during: "----^", from: letter)
    },
    Story("publishedValue follows its source without subscribers") {
      let letters = $0.broadcaster("-b----c|")
      let letter = letters.publishedValue(initial: "a")
      $0.expect("                   ---b--c|", during: "---^", from: letter)
      $0.expect("                   -------(c|)", during: "-------^", from: letter)
    },
    Story("broadcaster removes the kind, and with it the duplicate check") {
      let number = $0.number("1-2-3-|")
      $0.expect("              1-2-3-|", from: number.broadcaster)
      $0.expect("              0-1-1-|", from: number.broadcaster.map { $0 / 2 })
    },
    Story("a property that is set to an equal value emits nothing") {
      let letter = $0.value("a-a-b-a-|")
      $0.expect("             a---b-a-|", from: letter)
    },
    Story("a finished value emits its last value and finishes") {
      let letter = $0.value("a-b|")
      $0.expect("             -----(b|)", during: "-----^", from: letter)
    },
    Story("a finished broadcaster only finishes") {
      let letters = $0.broadcaster("a-b|")
      $0.expect("                   -----|", during: "-----^", from: letters)
    },
  ]
}
