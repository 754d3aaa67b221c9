internal import CLibrary

/// The end of a file whose last line may be torn.
struct JournalEnd {
  /// The length of the complete lines.
  var length = 0
  /// The number of the last complete line.
  var number = 0
  /// A Boolean value that indicates whether bytes follow the complete lines.
  var isTorn = false

  init(of descriptor: Int32) throws(JournalFailure) {
    let size = Int(try status(of: descriptor).st_size)
    guard try hasHeader(descriptor, size) else {
      isTorn = size > 0
      return
    }
    var lines = JournalLinesBackwards(of: descriptor, before: size)
    let tail = try lines.nextPart()
    if isDamagedTail(tail.bytes) { throw .damaged(atByte: tail.offset) }
    length = tail.offset
    isTorn = length < size
    guard let last = try lines.next(), last.offset > 0 else { return }
    guard let line = JournalLine(last.bytes) else { throw .damaged(atByte: last.offset) }
    number = line.number
  }
}

/// Returns `false` if the file has only a part of its first line.
private func hasHeader(_ descriptor: Int32, _ size: Int) throws(JournalFailure) -> Bool {
  var start: [UInt8] = []
  try read(descriptor, at: 0, upTo: min(size, 4096), appendingTo: &start)
  if start.starts(with: journalHeader) { return true }
  if journalHeader.starts(with: start) { return false }
  let line = start.prefix { $0 != newline }
  if line.count < start.count, let version = journalVersion(line) { throw .version(version) }
  throw .damaged(atByte: 0)
}

let newline = UInt8(ascii: "\n")
