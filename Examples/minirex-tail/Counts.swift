struct Counts: Equatable, Sendable {
  /// What was read.
  var lines = 0
  var bytes = 0
  /// What the broadcaster delivered.
  var updates = 0
  var matches = 0
  var replacements = 0
  var cuts = 0
  var severities = Severity.allCases.map { _ in 0 }

  mutating func add(_ line: Line) {
    updates += 1
    replacements += line.bytes.replacementCount
    if line.isCut { cuts += 1 }
    if let severity = Severity(firstIn: line.bytes) { severities[severity.rawValue] += 1 }
  }

  mutating func with(_ look: Look) -> Counts {
    lines = look.lines
    bytes = look.bytes
    return self
  }

  var summary: String {
    var text = "lines: \(lines)\nbytes: \(bytes)\nmatches: \(matches)\nupdates: \(updates)\n"
    if replacements > 0 { text += "replaced: \(replacements)\n" }
    if cuts > 0 { text += "cut: \(cuts)\n" }
    return text
  }
}

/// The word by which a line says how grave it is.
enum Severity: Int, CaseIterable, Sendable {
  case fatal, error, warning, info, debug

  /// Finds the first such word, in capitals or not.
  init?(firstIn bytes: ArraySlice<UInt8>) {
    /// The letters of the word so far, in lower case. The longest has seven: one of eight is none.
    var word: UInt64 = 0
    for byte in bytes {
      let letter = byte | 0x20
      if letter >= UInt8(ascii: "a"), letter <= UInt8(ascii: "z") {
        word = word << 8 | UInt64(letter)
      } else if word != 0 {
        if let severity = Severity(word: word) {
          self = severity
          return
        }
        word = 0
      }
    }
    self.init(word: word)
  }

  private init?(word: UInt64) {
    switch word {
    case 0x66_61_74_61_6C: self = .fatal
    case 0x65_72_72_6F_72: self = .error
    case 0x77_61_72_6E, 0x77_61_72_6E_69_6E_67: self = .warning
    case 0x69_6E_66_6F: self = .info
    case 0x64_65_62_75_67: self = .debug
    default: return nil
    }
  }

  static func describe(_ counts: [Int]) -> String {
    zip(allCases, counts).filter { $1 > 0 }.map { ", \($1) \($0)" }.joined()
  }
}
