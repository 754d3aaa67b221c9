/// Where a file ends that may have been left in the middle of a line.
struct JournalEnd {
  /// How much of it is whole lines.
  var length = 0
  /// That of the last line.
  var number = 0
  /// Whether there is more than that.
  var isTorn = false

  init(of descriptor: Int32) throws(JournalFailure) {
    let size = try MiniRexJournal.size(of: descriptor)
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

/// False if the file has less than its first line.
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
