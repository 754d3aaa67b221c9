internal import CLibrary
internal import MiniRex

/// The state with which a compaction begins the next file.
struct CompactionStart: Sendable {
  /// The file that it closes.
  let old: JournalPart
  var header: JournalHeader
  /// The line of the state, and the number of bytes of its JSON.
  let line: [UInt8]
  let stateBytes: Int
  /// The Unix second of the state's commit.
  let second: Int?
  /// The place of the line after the state's commit in the old file.
  let offset: Int
  let writer: Int
  /// A Boolean value that indicates whether the old file is not written any longer.
  let isFinal: Bool
}

extension JournalFile {
  /// Closes the file, and continues with a new file that begins with the state.
  ///
  /// The order of the system calls keeps a complete file at the path at each instant. An error before `rename` removes
  /// the new file, and changes nothing else.
  ///
  /// - Returns: `false` if the journal was released, or another recording has begun.
  @discardableResult
  func compact(_ start: CompactionStart) throws(JournalFailure) -> Bool {
    do throws(JournalFailure) {
      let start = try start.naming(start.old, isKept: keepsOld(start))
      guard let next = try createNext(start), try archive(start) else { return abandon() }
      let copied = try copy(start, from: start.offset, into: next, leaving: 64 << 10)
      guard try replace(start, with: next, copied) else { return abandon() }
      removeOldSegments()
      return true
    } catch {
      fail(error, start)
      throw error
    }
  }

  private func abandon() -> Bool {
    end.withLock { end in
      if !end.isUnlocked { unsafe unlink(path + nextSuffix) }
    }
    return false
  }

  private func fail(_ failure: JournalFailure, _ start: CompactionStart) {
    end.withLock { end in
      if !end.isUnlocked, end.part.file === start.old.file { unsafe unlink(path + nextSuffix) }
      end.compaction = .failed(failure)
      end.weight.delay += (end.part.length - end.weight.first.end) / 4
    }
  }

  private func isCurrent(_ start: CompactionStart, _ end: End) -> Bool {
    !end.isUnlocked && end.part.file === start.old.file && end.writer == start.writer
      && (start.isFinal || end.disk.lost == nil)
  }

  // Step 1. Creates the new file with the state. Returns `nil` if the compaction must be abandoned.
  private func createNext(_ start: CompactionStart) throws(JournalFailure) -> JournalDescriptor? {
    let path = path + nextSuffix
    let created = try end.withLock { end throws(JournalFailure) -> JournalDescriptor? in
      guard isCurrent(start, end) else { return nil }
      unsafe unlink(path)
      return try openRegularFile(path, O_RDWR | O_CREAT | O_EXCL)
    }
    guard let next = created else { return nil }
    try lockFile(next.number, LOCK_EX)
    try JournalAttributes(of: start.old.file).apply(to: next)
    var done = 0
    try write(start.header.line + start.line, to: next.number, &done)
    try MiniRexJournal.synchronize(next.number)
    return next
  }

  /// Returns whether the old file becomes a closed file.
  private func keepsOld(_ start: CompactionStart) -> Bool {
    if history.span != .none || start.old.header.version == 1 { return true }
    // Behind closed files, until all are removed: after a kill before that, nothing else proves that they belong to the
    // journal.
    return end.withLock { $0.segments.list.contains { $0.sequence > 0 } }
  }

  // Step 2. Links the old file in the folder of closed files, unless the history keeps none. Returns `false` if the
  // compaction must be abandoned.
  private func archive(_ start: CompactionStart) throws(JournalFailure) -> Bool {
    if start.old.length == 0 { return true }
    if !keepsOld(start) {
      // A later start would take the files of another branch for the history of the new file.
      try end.withLock { end throws(JournalFailure) in
        if isCurrent(start, end) { try setAside(&end) }
      }
      return true
    }
    if end.withLock({ $0.disk.lost }) == nil {
      try end.withLock { end throws(JournalFailure) in
        if !end.isPrepared, let offset = end.unconfirmed { try rewrite(end.part, from: offset) }
      }
      try synchronize()
    }
    let created = try end.withLock { end throws(JournalFailure) -> Bool? in
      guard isCurrent(start, end) else { return nil }
      if !(try isNamed(path, start.old.file.number)) { throw .inUse }
      let isNew = try makeFolder(end.segments.folder, beside: start.old.file)
      try setAside(&end)
      let segment = JournalSegment(start.old.header, bytes: end.part.length)
      if !isLinked(segment, end) {
        do throws(JournalFailure) {
          try check { unsafe link(path, end.segments.path(segment)) }
        } catch {
          throw error == .file(.EXDEV) ? .otherDisk(folder: end.segments.folder) : error
        }
      }
      return isNew
    }
    guard let created else { return false }
    if created { try synchronizeFolder(of: path) }
    try synchronizeFolder(end.withLock { $0.segments.folder })
    return true
  }

  /// The lines that were copied to the new file.
  struct Copied {
    /// The place up to which the old file is copied.
    var place: Int
    var actions = 0
    /// The length of the new file.
    var length: Int
    /// The number up to which a copied line vouches for the lines before it, or -1.
    var synced = -1
  }

  // Step 3. Copies lines after the state, except for the last ones, while the old file is still written.
  private func copy(
    _ start: CompactionStart, from offset: Int, into next: JournalDescriptor, leaving rest: Int
  ) throws(JournalFailure) -> Copied {
    var copied = Copied(place: offset, length: start.header.length + start.line.count)
    if start.isFinal { return copied }
    while true {
      let goal = end.withLock { $0.part.file === start.old.file ? $0.part.length : copied.place }
      if goal - copied.place <= rest { return copied }
      try copy(start, &copied, to: goal, into: next)
    }
  }

  /// Copies the lines up to a place in the old file, except for snapshots.
  ///
  /// - Parameter number: The number of the last line of the old file, if this is the last copy. The last copied line
  ///   then vouches for all copied lines.
  private func copy(
    _ start: CompactionStart, _ copied: inout Copied, to goal: Int, upTo number: Int? = nil,
    into next: JournalDescriptor
  ) throws(JournalFailure) {
    var lines = JournalLines(of: start.old.file, from: copied.place, to: goal)
    var block: [UInt8] = []
    var last = 0
    func writeBlock() throws(JournalFailure) {
      var done = 0
      try write(block, to: next.number, &done)
      copied.length += block.count
      block.removeAll(keepingCapacity: true)
    }
    while let line = try lines.next() {
      let content = JournalLine(unchecked: line.bytes)
      if content?.kind == .snapshot { continue }
      if block.count >= 1 << 16 { try writeBlock() }
      last = block.count
      block += line.bytes + [newline]
      if content?.kind == .action { copied.actions += 1 }
    }
    copied.place = goal
    if let number, copied.length + block.count > start.header.length + start.line.count {
      vouch(for: &block, from: last, number)
      copied.synced = number
    }
    try writeBlock()
  }

  /// Lets the last line vouch for all copied lines.
  ///
  /// The file is synchronized before it gets its name. Until the next line, nothing else would prove it.
  private func vouch(for block: inout [UInt8], from last: Int, _ number: Int) {
    var vouching = JournalLineWriter()
    if let line = JournalLine(block[last...].dropLast()), line.number == number {
      vouching.appendVouching(line)
      block.removeSubrange(last...)
    } else {
      vouching.appendMark(number, synced: number)
    }
    block += vouching.bytes
  }

  // Step 4. Copies the last lines, and gives the new file the name of the old file. Returns `false` if the compaction
  // must be abandoned.
  private func replace(
    _ start: CompactionStart, with next: JournalDescriptor, _ copied: Copied
  ) throws(JournalFailure) -> Bool {
    var copied = copied
    return try syncing.withLock { _ throws(JournalFailure) in
      try end.withLock { end throws(JournalFailure) in
        guard isCurrent(start, end) else { return false }
        let size = Int(try fileStatus(of: start.old.file.number).st_size)
        let isExpected = size == end.part.length || end.isTorn && size > end.part.length
        if !(try isNamed(path, start.old.file.number)) || !isExpected { throw .inUse }
        if !start.isFinal {
          try copy(start, &copied, to: end.part.length, upTo: end.part.number, into: next)
        }
        try MiniRexJournal.synchronize(next.number)
        try check { unsafe rename(path + nextSuffix, path) }
        end.take(next, start, copied)
        do throws(JournalFailure) {
          try synchronizeFolder(of: path)
        } catch {
          end.disk.lost = error
          throw error
        }
        end.disk.durable = end.part.number
        end.disk.length = end.part.length
        return true
      }
    }
  }

  // Step 5. Removes the closed files that the history does not keep. The newest file must not depend on them, so it is
  // already durable. A file that may belong to another journal stays. No send waits while the files are compared.
  private func removeOldSegments() {
    let (segments, part, marks) = end.withLock { ($0.segments, $0.part, $0.marks) }
    for index in segments.expired(history, part, marks).indices {
      let segment = segments.list[index]
      guard (try? segments.proves(index, before: part)) == true else {
        // The file that describes it may be removed.
        end.withLock { $0.segments.doubt(segment) }
        continue
      }
      let isRemoved = end.withLock { end in
        if end.isUnlocked { return false }
        if unsafe unlink(segments.path(segment)) != 0, errno != ENOENT { return false }
        end.segments.remove(segment)
        return true
      }
      if !isRemoved { return }
    }
  }
}

extension CompactionStart {
  /// Returns the start with a header that names the old file.
  fileprivate func naming(_ old: JournalPart, isKept: Bool) throws(JournalFailure)
    -> CompactionStart
  {
    if header.segment > largestNumber { throw .file(.EOVERFLOW) }
    var start = self
    start.header = JournalHeader(
      segment: header.segment, first: header.first,
      after: try old.identity(before: offset, isKept: isKept),
      oldest: old.header.oldest ?? (old.header.segment == 1 ? old.header.former : nil))
    return start
  }
}

extension JournalFile.End {
  fileprivate mutating func take(
    _ next: JournalDescriptor, _ start: CompactionStart, _ copied: JournalFile.Copied
  ) {
    let segment = JournalSegment(part.header, bytes: part.length)
    if (try? isNamed(segments.path(segment), part.file.number)) == true { segments.append(segment) }
    part = JournalPart(
      file: next, header: start.header, length: copied.length,
      number: start.isFinal ? start.header.first : part.number)
    let state = JournalWeight.State(
      end: start.header.length + start.line.count, bytes: start.stateBytes)
    weight = JournalWeight()
    (weight.first, weight.last, weight.actions) = (state, state, copied.actions)
    weight.firstSecond = start.second
    marks.synced = copied.synced
    (isTorn, unconfirmed, isPrepared, disk.lost) = (false, nil, true, nil)
    compaction = .idle
  }
}
