internal import MiniRex

/// Compares a closed file with the checksums in the next file, before its lines count.
///
/// A reader compares the parts that it reads, each of them once. Thread-safe.
final class JournalProof: Sendable {
  let identity: JournalIdentity
  private let part: JournalPart
  /// The number of the first state of the next file.
  private let next: Int
  private let compared = Lock<Set<Int>>([])

  init(_ part: JournalPart, _ identity: JournalIdentity, next: Int) {
    (self.part, self.identity, self.next) = (part, identity, next)
  }

  /// Throws `notKept` if a part of the file, with bytes of the range, proves another file.
  func check(_ range: Range<Int>) throws(JournalFailure) {
    if identity.parts.isEmpty || range.isEmpty { return }
    let size = identity.partSize
    let last = min((range.upperBound - 1) / size, identity.parts.count - 1)
    var index = range.lowerBound / size
    while index <= last {
      if !compared.withLock({ $0.contains(index) }) {
        if try isOther(index) { throw .notKept(first: next) }
        compared.withLock { _ = $0.insert(index) }
      }
      index += 1
    }
  }

  /// Throws `notKept` if any part of the file proves another file.
  func checkAll() throws(JournalFailure) { try check(0..<identity.end) }

  /// Returns whether the lines of a part are intact and have another checksum.
  ///
  /// If they are damaged or missing, it is unclear, and the damage is found when they are read.
  private func isOther(_ index: Int) throws(JournalFailure) -> Bool {
    let range = identity.range(of: index)
    if try part.checksum(of: range) == identity.parts[index] { return false }
    let lines = max(range.lowerBound, part.header.length)..<range.upperBound
    if lines.isEmpty { return true }
    return try part.isIntact(lines, upTo: identity.number)
  }
}
