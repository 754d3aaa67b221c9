/// The closed files that belong to the journal, and the files of another journal or branch.
extension JournalSegments {
  /// Returns the files of the journal that has the newest file.
  ///
  /// Two branches can have files with one sequence number. Then the next file names its own.
  func files(_ all: [JournalSegment], before newest: JournalPart) -> [JournalSegment] {
    let header = newest.header
    var older = all.filter { $0.sequence < header.segment }[...]
    if header.former == nil {
      // Before its first release, a journal named no file. The first file of a journal has no number.
      return header.segment > 1 || header.first > 0 ? Array(older) : []
    }
    var own: [JournalSegment] = []
    while let last = older.last {
      let start = older.lastIndex { $0.sequence != last.sequence }.map { $0 + 1 } ?? 0
      let files = older[start...]
      older = older[..<start]
      if files.count == 1, !own.isEmpty {
        own.append(last)
      } else if let file = named(files, before: own.last, newest) {
        own.append(file)
      }
    }
    return own.reversed()
  }

  /// Returns the file that a later file names, of several files with one sequence number.
  ///
  /// If that file is missing, a file counts whose identity damage conceals.
  private func named(
    _ files: ArraySlice<JournalSegment>, before next: JournalSegment?, _ newest: JournalPart
  ) -> JournalSegment? {
    var found: JournalSegment?
    for var file in files {
      guard let identity = try? identity(of: file, before: next, newest) else { return nil }
      let kinship = kinship(of: file, identity)
      file.isProved = kinship == .own
      if kinship == .own || kinship == .unclear && found == nil { found = file }
    }
    return found
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
    try identity(of: list[index], before: list.dropFirst(index + 1).first, newest)
  }

  private func identity(
    of segment: JournalSegment, before next: JournalSegment?, _ newest: JournalPart
  ) throws(JournalFailure) -> JournalIdentity? {
    let next = try header(after: segment, next, newest)
    // No policy deletes the file of version 1, so it can remain alone.
    return next?.former ?? (next == nil && segment.sequence == 0 ? newest.header.oldest : nil)
  }

  /// Returns the header of the file that continues a closed file, or `nil` if that file is missing.
  private func header(after segment: JournalSegment, _ next: JournalSegment?, _ newest: JournalPart)
    throws(JournalFailure) -> JournalHeader?
  {
    guard (next?.sequence ?? newest.header.segment) == segment.sequence + 1 else { return nil }
    guard let next else { return newest.header }
    return try start(of: next)?.header
  }

  /// Returns `false` if a later file names another file, or if damage or a missing file conceals the file's identity.
  ///
  /// Throws `notKept` for a file that differs from the named file only before its last lines.
  func proves(_ index: Int, before newest: JournalPart) throws(JournalFailure) -> Bool {
    let (segment, next) = (list[index], list.dropFirst(index + 1).first)
    guard let header = try header(after: segment, next, newest) else { return segment.isProved }
    guard let identity = header.former else { return true }
    guard kinship(of: segment, identity) == .own, let start = try start(of: segment) else {
      return false
    }
    try JournalProof(start, identity, next: header.first).checkAll()
    return true
  }

  /// Finds the files in the folder that belong to another journal or branch, with the newest file if it is linked.
  func others() throws(JournalFailure) -> [JournalSegment] {
    let own = Set(list.map(\.name))
    return try Self.all(in: folder).filter { !own.contains($0.name) }
  }
}
