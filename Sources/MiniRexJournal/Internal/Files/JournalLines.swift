/// An iterator over the lines of a part of a file, in a buffer that it reuses.
struct JournalLines {
  private let file: JournalDescriptor
  private let proof: JournalProof?
  private let end: Int
  private var buffer: [UInt8] = []
  /// The number of bytes of `buffer` that were returned.
  private var returned = 0
  /// The place of `buffer` in the file.
  private var offset: Int

  init(of file: JournalDescriptor, _ proof: JournalProof? = nil, from offset: Int, to end: Int) {
    (self.file, self.proof) = (file, proof)
    self.offset = offset
    self.end = end
  }

  /// Returns the next line without its newline, and its place in the file.
  mutating func next() throws(JournalFailure) -> (offset: Int, bytes: ArraySlice<UInt8>)? {
    guard let (offset, bytes, isComplete) = try nextPiece() else { return nil }
    // The last line had a newline when the journal was opened.
    if !isComplete { throw .damaged(atByte: offset) }
    return (offset, bytes)
  }

  /// Returns the next line, or at the end the bytes without a newline.
  mutating func nextPiece() throws(JournalFailure) -> (
    offset: Int, bytes: ArraySlice<UInt8>, isComplete: Bool
  )? {
    var looked = returned
    while true {
      if let place = firstNewline(in: buffer, from: looked) {
        defer { returned = place + 1 }
        return (offset + returned, buffer[returned..<place], true)
      }
      let rest = buffer.count - returned
      let place = offset + buffer.count
      if place >= end {
        defer { returned = buffer.count }
        return rest > 0 ? (offset + returned, buffer[returned...], false) : nil
      }
      buffer.removeFirst(returned)
      offset += returned
      returned = 0
      looked = rest
      let count = min(max(blockSize, rest), end - place)
      try proof?.check(place..<place + count)
      try read(file.number, at: place, upTo: count, appendingTo: &buffer)
      if buffer.count < rest + count { throw .damaged(atByte: offset) }
    }
  }
}

let blockSize = 1 << 16

/// An iterator over the lines of a file, last line first.
struct JournalLinesBackwards {
  private let file: JournalDescriptor
  private let proof: JournalProof?
  private var buffer: [UInt8] = []
  /// The place of `buffer` in the file.
  private var offset: Int
  /// The number of bytes of `buffer` that were not returned.
  private var rest = 0

  init(of file: JournalDescriptor, _ proof: JournalProof?, before end: Int) {
    (self.file, self.proof) = (file, proof)
    offset = end
  }

  /// Returns the line before the lines that were returned, or `nil` at the beginning of the file.
  mutating func next() throws(JournalFailure) -> (offset: Int, bytes: ArraySlice<UInt8>)? {
    if rest == 0 { try readMore() }
    if rest == 0 { return nil }
    if buffer[rest - 1] == newline { rest -= 1 }
    return try nextPart()
  }

  /// Returns the bytes after the last newline that was not returned.
  mutating func nextPart() throws(JournalFailure) -> (offset: Int, bytes: ArraySlice<UInt8>) {
    var unseen = rest
    while true {
      if let place = lastNewline(in: buffer, before: unseen) {
        defer { rest = place + 1 }
        return (offset + place + 1, buffer[(place + 1)..<rest])
      }
      if offset == 0 {
        defer { rest = 0 }
        return (0, buffer[..<rest])
      }
      let count = rest
      try readMore()
      unseen = rest - count
    }
  }

  /// Uses a new buffer, because the caller may still have a slice of the old buffer.
  private mutating func readMore() throws(JournalFailure) {
    let count = min(max(blockSize, rest), offset)
    try proof?.check(offset - count..<offset)
    var block: [UInt8] = []
    block.reserveCapacity(count + rest)
    try read(file.number, at: offset - count, upTo: count, appendingTo: &block)
    if block.count < count { throw .damaged(atByte: offset - count + block.count) }
    block += buffer[..<rest]
    rest = block.count
    buffer = block
    offset -= count
  }
}

// These search the memory directly, because `firstIndex(of:)` is slow in a debug build.

private func firstNewline(in bytes: [UInt8], from start: Int) -> Int? {
  // A local constant, because a debug build initializes a global constant at each access.
  let newline = newline
  return unsafe bytes.withUnsafeBufferPointer { bytes in
    var place = start
    while place < bytes.count {
      if unsafe bytes[place] == newline { return place }
      place += 1
    }
    return nil
  }
}

private func lastNewline(in bytes: [UInt8], before end: Int) -> Int? {
  let newline = newline
  return unsafe bytes.withUnsafeBufferPointer { bytes in
    var place = end
    while place > 0 {
      place -= 1
      if unsafe bytes[place] == newline { return place }
    }
    return nil
  }
}
