/// The closed files that belong to the journal, and the files of another journal or branch.
extension JournalSegments {
  /// Returns the files of the journal that has the newest file.
  func files(_ all: [JournalSegment], before newest: JournalPart) -> [JournalSegment] {
    let header = newest.header
    var older = all.filter { $0.sequence < header.segment }
    guard let identity = header.former else {
      // Before its first release, a journal named no file. The first file of a journal has no number.
      return header.segment > 1 || header.first > 0 ? older : []
    }
    var last: JournalSegment?
    for var segment in older where segment.sequence + 1 == header.segment {
      let kinship = kinship(of: segment, identity)
      segment.isProved = kinship == .own
      if kinship == .own || kinship == .unclear && last == nil { last = segment }
    }
    older.removeAll { $0.sequence + 1 == header.segment }
    if let last { return older + [last] }
    // No policy deletes the file of version 1, so it can remain alone.
    return older.filter { segment in
      segment.sequence == 0 && header.oldest.map { kinship(of: segment, $0) != .other } == true
    }
  }

  /// Compares a closed file with the identity in a later file.
  private func kinship(of segment: JournalSegment, _ identity: JournalIdentity)
    -> JournalIdentity.Kinship
  {
    do throws(JournalFailure) {
      return try start(of: segment)?.kinship(identity) ?? .other
    } catch {
      // The damage, or the missing permission, is found when the file is read.
      return .unclear
    }
  }

  /// Returns the identity of a closed file in a later file, or `nil` if no later file has it.
  func identity(of index: Int, before newest: JournalPart) throws(JournalFailure)
    -> JournalIdentity?
  {
    let segment = list[index]
    let next = index + 1 == list.count ? newest : try start(of: list[index + 1])
    if let next, next.header.segment == segment.sequence + 1 { return next.header.former }
    return segment.sequence == 0 ? newest.header.oldest : nil
  }

  /// Returns `false` if a later file names another file, or if damage conceals the file's identity.
  func proves(_ index: Int, before newest: JournalPart) throws(JournalFailure) -> Bool {
    guard let identity = try identity(of: index, before: newest) else { return true }
    return kinship(of: list[index], identity) == .own
  }

  /// Finds the files in the folder that belong to another journal or branch, with the newest file if it is linked.
  func others() throws(JournalFailure) -> [JournalSegment] {
    let own = Set(list.map(\.name))
    return try Self.all(in: folder).filter { !own.contains($0.name) }
  }
}
