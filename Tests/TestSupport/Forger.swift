package import Foundation

/// Changes texts and numbers at random, preferably to the ends of their range.
package struct Forger {
  package var random: SeededGenerator

  package init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  private static let numbers = [
    "0", "-1", "1", "9223372036854775807", "9223372036854775806", "-9223372036854775808",
    "18446744073709551615", "18446744073709551614", "9007199254740991", "9007199254740992",
    "4611686018427387904", "2592000000000000", "1e400", "0.5", "null", "\"\"", "[]",
  ]

  /// Replaces numbers of a text.
  package mutating func fields(_ text: String) -> String {
    var result = ""
    var rest = Substring(text)
    while let start = rest.firstIndex(where: \.isNumber) {
      let end = rest[start...].firstIndex { !$0.isNumber } ?? rest.endIndex
      result += rest[..<start]
      result +=
        Int.random(in: 0..<4, using: &random) == 0
        ? Self.numbers.randomElement(using: &random) ?? "" : String(rest[start..<end])
      rest = rest[end...]
    }
    return result + rest
  }

  /// Changes, removes, and repeats bytes.
  package mutating func bytes(_ data: Data) -> Data {
    var bytes = [UInt8](data)
    for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      let end = min(bytes.count, place + Int.random(in: 1...20, using: &random))
      switch Int.random(in: 0..<4, using: &random) {
      case 0: bytes[place] = .random(in: 0...255, using: &random)
      case 1: bytes.removeSubrange(place..<end)
      case 2: bytes.insert(contentsOf: bytes[place..<end], at: place)
      default: bytes.removeLast(bytes.count - place)
      }
    }
    return Data(bytes)
  }

  /// Changes fields, or bytes, or both.
  package mutating func forge(_ text: String) -> Data {
    let kind = Int.random(in: 0..<3, using: &random)
    let data = Data((kind == 0 ? text : fields(text)).utf8)
    return kind == 1 ? data : bytes(data)
  }

  package mutating func sequence() -> UInt64 {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: .max - .random(in: 0...2, using: &random)
    case 1: (1 << 63) - .random(in: 0...2, using: &random)
    default: .random(in: 0...12, using: &random)
    }
  }

  package mutating func time() -> Int64 {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: .max - .random(in: 0...2, using: &random)
    case 1: .min + .random(in: 0...2, using: &random)
    default: .random(in: 0...Int64(4e18), using: &random)
    }
  }
}
