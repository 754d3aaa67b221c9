/// The lines of a file from a byte on, in memory that is used again.
struct JournalLines {
  private let file: JournalFile
  private let end: Int
  /// What was read and not told, and where in the file it begins.
  private var buffer: [UInt8] = []
  private var told = 0
  private var offset: Int

  init(of file: JournalFile, from offset: Int, to end: Int) {
    self.file = file
    self.offset = offset
    self.end = end
  }

  /// The next line without its newline, and where it begins.
  mutating func next() throws(JournalFailure) -> (offset: Int, bytes: ArraySlice<UInt8>)? {
    var looked = told
    while true {
      if let place = buffer[looked...].firstIndex(of: newline) {
        defer { told = place + 1 }
        return (offset + told, buffer[told..<place])
      }
      let rest = buffer.count - told
      let place = offset + buffer.count
      if place >= end {
        // It was whole when it was written.
        if rest > 0 { throw .damaged(atByte: offset + told) }
        return nil
      }
      buffer.removeFirst(told)
      offset += told
      told = 0
      looked = rest
      let count = min(max(blockSize, rest), end - place)
      try file.read(at: place, upTo: count, appendingTo: &buffer)
      if buffer.count < rest + count { throw .damaged(atByte: offset) }
    }
  }
}

let blockSize = 1 << 16

/// The lines of a file from its end on.
struct JournalLinesBackwards {
  private let descriptor: Int32
  /// What was read, where in the file it begins, and how much of it was not told.
  private var buffer: [UInt8] = []
  private var offset: Int
  private var untold = 0

  init(of descriptor: Int32, before end: Int) {
    self.descriptor = descriptor
    offset = end
  }

  /// The line that ends with the newline before what was told; `nil` at the beginning of the file.
  mutating func next() throws(JournalFailure) -> (offset: Int, bytes: ArraySlice<UInt8>)? {
    if untold == 0 { try readMore() }
    if untold == 0 { return nil }
    if buffer[untold - 1] == newline { untold -= 1 }
    return try nextPart()
  }

  /// What there is after the newline before what was told.
  mutating func nextPart() throws(JournalFailure) -> (offset: Int, bytes: ArraySlice<UInt8>) {
    var unseen = untold
    while true {
      if let place = buffer[..<unseen].lastIndex(of: newline) {
        defer { untold = place + 1 }
        return (offset + place + 1, buffer[(place + 1)..<untold])
      }
      if offset == 0 {
        defer { untold = 0 }
        return (0, buffer[..<untold])
      }
      let count = untold
      try readMore()
      unseen = untold - count
    }
  }

  /// Whoever was told a line keeps the bytes that it is of.
  private mutating func readMore() throws(JournalFailure) {
    let count = min(max(blockSize, untold), offset)
    var block: [UInt8] = []
    block.reserveCapacity(count + untold)
    try read(descriptor, at: offset - count, upTo: count, appendingTo: &block)
    if block.count < count { throw .damaged(atByte: offset - count + block.count) }
    block += buffer[..<untold]
    untold = block.count
    buffer = block
    offset -= count
  }
}
