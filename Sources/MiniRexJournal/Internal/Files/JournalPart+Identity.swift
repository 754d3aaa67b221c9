internal import CLibrary

extension JournalPart {
  /// Returns the identity of the file, for the file that continues it after the lines before a place.
  func identity(before end: Int) throws(JournalFailure) -> JournalIdentity {
    var lines = linesBackwards(before: end)
    // A file without lines is not closed.
    guard length > 0, let (place, _) = try lines.next() else {
      return JournalIdentity(first: 0, last: 0, place: 0)
    }
    return JournalIdentity(
      first: try checksum(at: header.length) ?? 0, last: try checksum(at: place) ?? 0,
      place: place)
  }

  /// Returns whether the file has an identity, by two short reads.
  ///
  /// Intact lines with other checksums prove another file. If the lines are damaged or missing, it is unclear, and the
  /// damage is found when the file is read.
  func kinship(_ identity: JournalIdentity) throws(JournalFailure) -> JournalIdentity.Kinship {
    let isFirst = try checksum(at: header.length) == identity.first
    let isLast = try checksum(at: identity.place) == identity.last
    if isFirst, isLast { return .own }
    if !isFirst, try hasLine(at: header.length) { return .other }
    if !isLast, try hasLine(at: identity.place) { return .other }
    return .unclear
  }

  private func checksum(at place: Int) throws(JournalFailure) -> UInt32? {
    var start: [UInt8] = []
    try read(file.number, at: place, upTo: bodyOffset, appendingTo: &start)
    return statedChecksum(of: start[...])
  }

  /// Returns whether an intact line has the byte at a place.
  private func hasLine(at place: Int) throws(JournalFailure) -> Bool {
    let size = Int(try fileStatus(of: file.number).st_size)
    if place >= size { return false }
    var before = linesBackwards(before: place)
    var lines = lines(from: try before.nextPart().offset, to: size)
    guard let (_, bytes, isComplete) = try lines.nextPiece() else { return false }
    return isComplete && JournalLine(bytes) != nil
  }
}
