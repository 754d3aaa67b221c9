/// The word by which a line says how grave it is.
enum Severity: Int, CaseIterable, Sendable {
  case fatal, error, warning, info, debug

  /// Finds the first such word, in capitals or not.
  init?(firstIn bytes: ArraySlice<UInt8>) {
    // The letters of a word, in lower case. No severity has eight, so a longer word is none.
    var word: UInt64 = 0
    for byte in bytes {
      let letter = byte | 0x20
      if letter >= UInt8(ascii: "a"), letter <= UInt8(ascii: "z") {
        word = word << 8 | UInt64(letter)
      } else if let severity = Severity(word: word) {
        self = severity
        return
      } else {
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
