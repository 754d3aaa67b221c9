internal import MiniRexJournal

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The readable lines of a file of pending actions.
struct OutboxContent {
  private(set) var origin: String?
  private(set) var settled = 0
  /// The actions, including decided actions, with consecutive numbers and the places of their lines.
  private(set) var lines: [(number: Int, line: Data, place: Int)] = []
  private(set) var marks: [(number: Int, second: Int)] = []
  /// The number of bytes up to the last complete line.
  private(set) var size = 0

  /// The number of the next action.
  var next: Int { max(lines.last?.number ?? 0, settled) + 1 }

  /// - Throws: An `OutboxFailure` for a damaged line. A line with a zero byte never reached the disk, so all from
  ///   there on is ignored.
  init(_ bytes: [UInt8]) throws(OutboxFailure) {
    while let end = bytes[size...].firstIndex(of: UInt8(ascii: "\n")) {
      let line = bytes[size..<end]
      if !take(line) {
        if line.contains(0) { break }
        throw OutboxFailure(
          "The file of the pending actions is damaged at byte \(size). Restore it, or move it away to start without the "
            + "actions behind this byte")
      }
      size = end + 1
    }
  }

  private mutating func take(_ line: ArraySlice<UInt8>) -> Bool {
    let body = line.dropFirst(9)
    guard line.count > 9,
      UInt32(String(decoding: line.prefix(8), as: UTF8.self), radix: 16) == Checksum.of(body)
    else { return false }
    let words = body.split(separator: UInt8(ascii: " "), maxSplits: 1)
    guard words.count == 2 else { return false }
    let (key, value) = (String(decoding: words[0], as: UTF8.self), words[1])
    var text: String { String(decoding: value, as: UTF8.self) }
    switch key {
    case "ORIGIN":
      // The header of an entry separates words by spaces.
      origin = text
      return !text.contains(" ")
    case "=":
      guard let number = EntryHeader.number(text) else { return false }
      settled = max(settled, number)
    case ">":
      let words = text.split(separator: " ")
      guard words.count >= 2, let number = EntryHeader.number(words[0]), let second = Int(words[1])
      else { return false }
      marks.append((number, second))
    default:
      // A line with another number has lost its predecessor.
      guard let number = EntryHeader.number(key), number > 0,
        lines.last.map({ $0.number + 1 == number }) ?? true
      else { return false }
      lines.append((number, Data(value), size))
    }
    return true
  }

  static func line(_ head: String, _ rest: Data = Data()) -> [UInt8] {
    let body = Array(head.utf8) + rest
    let sum = String(Checksum.of(body[...]), radix: 16)
    let digits = String(repeating: "0", count: 8 - sum.utf8.count) + sum
    return Array("\(digits) ".utf8) + body + [UInt8(ascii: "\n")]
  }
}
