internal import CLibrary
internal import MiniRex

/// The lines at the end of a file, from the last readable state on.
///
/// It reads each byte of them at most twice, and no byte between the header and that state.
struct JournalScan {
  /// The complete lines.
  ///
  /// Their length is 0 if the file has no first state.
  private(set) var part: JournalPart
  /// The number of bytes after the complete lines.
  private(set) var tornBytes = 0
  /// The last readable state: the end of its line, and the number of bytes of its JSON.
  private(set) var state: (offset: Int, end: Int, bytes: Int)?
  /// The number of actions after that state.
  private(set) var actions = 0
  /// All commits up to this number were on the disk when a later line was written, or -1.
  private(set) var synced = -1
  /// The offset of the first line without a later line that vouches for it, from the last readable state on.
  ///
  /// It is `nil` if only lines without a change follow.
  private(set) var unconfirmed: Int?
  private(set) var second: Int?
  private(set) var formerSecond: Int?
  /// The first line of a version that the program does not know, from the last readable state on.
  private(set) var newer: JournalFailure?
  private let upcasting: JournalUpcasting?

  /// - Parameters:
  ///   - durable: The number up to which the next file proves that the lines were on the disk, or -1.
  ///   - proof: Compares a closed file with the next file.
  init(
    of file: JournalDescriptor, _ upcasting: JournalUpcasting? = nil, durable: Int = -1,
    _ proof: JournalProof? = nil
  ) throws(JournalFailure) {
    self.upcasting = upcasting
    let size = Int(try fileStatus(of: file.number).st_size)
    part = JournalPart(
      file: file, header: JournalHeader(), durable: durable, proof: proof)
    guard let header = try readHeader(of: file, size) else {
      tornBytes = size
      return
    }
    part.header = header
    synced = max(durable, header.durableNumber)
    let start = try findState(before: size)
    try check(from: start, size)
    if part.length == 0 { part.header = JournalHeader() }
    tornBytes = size - part.length
  }

  /// Returns the offset of the line after the commit of the last readable state, or of the first line.
  private mutating func findState(before size: Int) throws(JournalFailure) -> Int {
    var lines = part.linesBackwards(before: size)
    _ = try lines.nextPart()
    while let (offset, bytes) = try lines.next(), offset >= part.header.length {
      guard let line = JournalLine(unchecked: bytes), line.kind.hasState,
        JournalLine(bytes) != nil
      else { continue }
      state = (offset, offset + bytes.count + 1, line.payload.count)
      let back = line.back ?? 0
      if back > 0 { part.number = line.number }
      return max(offset - back, part.header.length)
    }
    return part.header.length
  }

  private mutating func check(from start: Int, _ size: Int) throws(JournalFailure) {
    var last = state.map { $0.offset > start } == true ? part.number : nil
    var firstBad: (offset: Int, isTorn: Bool, isBlank: Bool)?
    var unvouched = UnvouchedLines(from: start)
    var pieces = part.lines(from: start, to: size)
    part.length = start
    while let (offset, bytes, isComplete) = try pieces.nextPiece() {
      let line = isComplete ? JournalLine(bytes) : nil
      if let mark = line?.synced, mark > synced {
        synced = mark
        unvouched.vouch(upTo: mark)
      }
      if let bad = firstBad {
        if bad.isBlank, !bytes.isEmpty { firstBad?.isTorn = false }
        continue
      }
      guard let line, line.follows(last) else {
        // An editor or a shell may have added a newline to the last line.
        let isBlank = bytes.isEmpty
        let isTorn = try isTorn(bytes, at: offset, isComplete, size)
        firstBad = (offset, isTorn || isBlank, isBlank)
        continue
      }
      if newer == nil {
        do throws(JournalFailure) { try upcasting?.check(line) } catch { newer = error }
      }
      if line.back == nil || last == nil { last = line.number }
      unvouched.add(
        line, from: offset, to: offset + bytes.count + 1, isFirst: offset == part.header.length)
      if synced >= line.number { unvouched.vouch(upTo: synced) }
      if line.kind == .action { actions += 1 }
      if offset == state?.offset { actions = line.back == nil ? 0 : actions }
      if let found = line.second { (formerSecond, second) = (second, found) }
      part.length = offset + bytes.count + 1
    }
    let isCovered = last ?? -1 < synced
    if let firstBad, isCovered || !firstBad.isTorn { throw .damaged(atByte: firstBad.offset) }
    // The end of the file is missing.
    if isCovered { throw .damaged(atByte: part.length) }
    unconfirmed = unvouched.start
    part.number = last ?? 0
    if last == nil { part.length = 0 }
  }

  /// Returns whether a bad line may never have reached the disk.
  private func isTorn(_ bytes: ArraySlice<UInt8>, at offset: Int, _ isComplete: Bool, _ size: Int)
    throws(JournalFailure) -> Bool
  {
    if !isComplete { return !isDamagedTail(bytes) }
    // A file of version 1 has no `synced`, so a lost sector could be a durable commit.
    return part.header.version > 1 && hasLostSector(bytes, at: offset, of: size)
  }
}

/// The lines that may not be on the disk.
///
/// A synchronization covers all bytes before the line of its last commit, and that line. A state or a `resume` after it has
/// the same number, but can be lost. The first state of a file is written before any commit.
private struct UnvouchedLines {
  /// The offset after the last line that is known to be on the disk.
  private var low: Int
  /// The offset of the last line with a change, or -1.
  private var last = -1
  private var commits = Queue<(number: Int, end: Int)>()

  init(from low: Int) { self.low = low }

  mutating func add(_ line: JournalLine, from offset: Int, to end: Int, isFirst: Bool) {
    if line.kind.isCommit || isFirst { commits.append((line.number, end)) }
    if line.kind != .resume { last = offset }
  }

  mutating func vouch(upTo number: Int) {
    while let commit = commits.first, commit.number <= number {
      low = commit.end
      _ = commits.popFirst()
    }
  }

  /// The offset of the first line, or `nil` if none has a change.
  var start: Int? { last < low ? nil : low }
}

/// Returns whether a part of the line is a sector, or the rest of it, that is NUL.
func hasLostSector(_ bytes: ArraySlice<UInt8>, at offset: Int, of size: Int) -> Bool {
  let sector = 512
  let end = offset + bytes.count
  return unsafe bytes.withUnsafeBufferPointer { bytes in
    var low = offset
    while low < end {
      let high = min((low / sector + 1) * sector, size)
      if high > end { return false }
      var place = low
      while place < high, unsafe bytes[place - offset] == 0 { place += 1 }
      if place == high { return true }
      low = high
    }
    return false
  }
}

/// Returns `nil` if the first line never reached the disk.
///
/// It is on the disk before any other byte is written. So an unreadable line is a part of it, and NULs up to the end of the
/// file. Everything else is damage, or a file of another program.
func readHeader(of file: JournalDescriptor, _ size: Int) throws(JournalFailure) -> JournalHeader? {
  var start: [UInt8] = []
  try read(file.number, at: 0, upTo: min(size, 4096), appendingTo: &start)
  let line = start.prefix { $0 != newline }
  if line.count < start.count, let header = try JournalHeader(line) { return header }
  let text = start.prefix { $0 != 0 }
  let headers = [JournalHeader().line, Array(versionOneHeader.utf8)]
  let isPart = headers.contains { $0.count > text.count && $0.starts(with: text) }
  if isPart, try isEmpty(file, from: text.count, to: size) { return nil }
  throw .damaged(atByte: 0)
}

/// Returns whether a part of a file has NULs only.
private func isEmpty(_ file: JournalDescriptor, from start: Int, to end: Int)
  throws(JournalFailure) -> Bool
{
  var place = start
  while place < end {
    var block: [UInt8] = []
    try read(file.number, at: place, upTo: min(blockSize, end - place), appendingTo: &block)
    if block.contains(where: { $0 != 0 }) { return false }
    if block.isEmpty { return true }
    place += block.count
  }
  return true
}

private let versionOneHeader = #"{"crc":"7a1c5507","journal":"MiniRex","version":1}"# + "\n"

let newline = UInt8(ascii: "\n")
