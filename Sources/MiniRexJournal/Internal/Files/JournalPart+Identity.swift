internal import CLibrary

extension JournalPart {
  /// Returns the identity of the file, for the file that continues it after the lines before a place.
  ///
  /// - Parameter isKept: `true` to read the entire file for the checksums of its parts.
  func identity(before end: Int, isKept: Bool) throws(JournalFailure) -> JournalIdentity {
    var lines = linesBackwards(before: end)
    // A file without lines is not closed.
    guard length > 0, let (place, _) = try lines.next() else {
      return JournalIdentity(first: 0, last: 0, place: 0)
    }
    var identity = JournalIdentity(
      first: try firstChecksum, last: try checksum(of: lastBytes(upTo: place)) ?? 0, place: place)
    if isKept {
      for index in 0..<identity.partCount {
        identity.parts.append(try checksum(of: identity.range(of: index)) ?? 0)
      }
    }
    return identity
  }

  /// Returns whether the file has an identity, by two short reads.
  ///
  /// Intact lines with other checksums prove another file. If the lines are damaged or missing, it is unclear, and the
  /// damage is found when the file is read.
  func kinship(_ identity: JournalIdentity) throws(JournalFailure) -> JournalIdentity.Kinship {
    let last = lastBytes(upTo: identity.place)
    let isFirst = try firstChecksum == identity.first
    let isLast = try checksum(of: last) == identity.last
    if isFirst, isLast { return .own }
    if !isFirst, try isIntact(header.length..<header.length + 1) { return .other }
    if !isLast, try isIntact(last, upTo: identity.number) { return .other }
    return .unclear
  }

  /// The bytes before a line, and its checksum.
  private func lastBytes(upTo place: Int) -> Range<Int> {
    let place = max(header.length, place)
    return max(header.length, place - 4_096)..<(place + bodyOffset)
  }

  /// The checksum of the first state, or 0 if it is lost.
  private var firstChecksum: UInt32 {
    get throws(JournalFailure) {
      var start: [UInt8] = []
      try read(file.number, at: header.length, upTo: bodyOffset, appendingTo: &start)
      return statedChecksum(of: start[...]) ?? 0
    }
  }

  /// Returns `nil` if the file is shorter.
  func checksum(of range: Range<Int>) throws(JournalFailure) -> UInt32? {
    var (sum, place, bytes) = (UInt32(0), range.lowerBound, [UInt8]())
    while place < range.upperBound {
      bytes.removeAll(keepingCapacity: true)
      let count = min(blockSize, range.upperBound - place)
      try read(file.number, at: place, upTo: count, appendingTo: &bytes)
      if bytes.count < count { return nil }
      sum = Checksum.of(bytes[...], after: sum)
      place += count
    }
    return sum
  }

  /// Returns whether the file has the bytes of a range, in intact lines.
  ///
  /// A shorter file has other lines if it ends with an intact line of the last commit. Otherwise, its end is missing.
  ///
  /// - Parameter number: The number of the last commit, or `nil` if it is unknown.
  func isIntact(_ range: Range<Int>, upTo number: Int? = nil) throws(JournalFailure) -> Bool {
    let size = Int(try fileStatus(of: file.number).st_size)
    let isShort = range.upperBound > size
    let start = isShort ? min(range.lowerBound, max(header.length, size - 1)) : range.lowerBound
    var before = linesBackwards(before: start)
    var lines = lines(from: try before.nextPart().offset, to: size)
    var last: Int?
    while let (offset, bytes, isComplete) = try lines.nextPiece(), offset < range.upperBound {
      guard isComplete, let line = JournalLine(bytes) else { return false }
      last = line.number
    }
    guard isShort else { return true }
    guard let number, let last else { return false }
    return last >= number
  }
}
