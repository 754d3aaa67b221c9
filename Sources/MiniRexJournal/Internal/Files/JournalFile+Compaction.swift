internal import CLibrary
internal import MiniRex

/// The state with which a compaction begins the next file.
struct CompactionStart: Sendable {
  /// The file that it closes.
  let old: JournalPart
  let header: JournalHeader
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
      && (start.isFinal || end.lost == nil)
  }

  // Step 1.
  private func createNext(_ start: CompactionStart) throws(JournalFailure) -> JournalDescriptor? {
    let path = path + nextSuffix
    let created = try end.withLock { end throws(JournalFailure) -> JournalDescriptor? in
      guard isCurrent(start, end) else { return nil }
      unsafe unlink(path)
      return try openRegularFile(path, O_RDWR | O_CREAT | O_EXCL)
    }
    guard let next = created else { return nil }
    try lockFile(next.number, LOCK_EX)
    let status = try fileStatus(of: start.old.file.number)
    try check { fchmod(next.number, status.st_mode & 0o7777) }
    var done = 0
    try write(start.header.line + start.line, to: next.number, &done)
    try MiniRexJournal.synchronize(next.number)
    return next
  }

  // Step 2. Returns `false` if the compaction must be abandoned.
  private func archive(_ start: CompactionStart) throws(JournalFailure) -> Bool {
    if start.old.length == 0 || history.span == .none && start.old.header.version > 1 {
      return true
    }
    if end.withLock({ $0.lost }) == nil { try synchronize() }
    let created = try end.withLock { end throws(JournalFailure) -> Bool? in
      guard isCurrent(start, end) else { return nil }
      if !(try isNamed(path, start.old.file.number)) { throw .inUse }
      let isNew = try makeFolder(end.segments.folder)
      let segment = JournalSegment(start.old.header, bytes: end.part.length)
      if !end.isOnlyBranch { try removeOtherBranch(from: segment, end) }
      end.isOnlyBranch = true
      if !isLinked(segment, end) {
        try check { unsafe link(path, end.segments.path(segment)) }
      }
      return isNew
    }
    guard let created else { return false }
    if created { try synchronizeFolder(of: path) }
    try synchronizeFolder(end.withLock { $0.segments.folder })
    return true
  }

  private func isLinked(_ segment: JournalSegment, _ end: End) -> Bool {
    (try? isNamed(end.segments.path(segment), end.part.file.number)) == true
  }

  /// Removes files that an older copy of this file was continued with, before the copy was restored.
  private func removeOtherBranch(from own: JournalSegment, _ end: End) throws(JournalFailure) {
    let keepsOwn = isLinked(own, end)
    for segment in try JournalSegments.all(in: end.segments.folder)
    where segment.sequence >= own.sequence && !(keepsOwn && segment.name == own.name) {
      try check { unsafe unlink(end.segments.path(segment)) }
    }
  }

  // Step 3. Returns the place up to which the lines are copied, and the number of copied actions.
  private func copy(
    _ start: CompactionStart, from offset: Int, into next: JournalDescriptor, leaving rest: Int
  ) throws(JournalFailure) -> (place: Int, actions: Int, length: Int) {
    var copied = (place: offset, actions: 0, length: start.header.length + start.line.count)
    if start.isFinal { return (start.old.length, 0, copied.length) }
    while true {
      let goal = end.withLock { $0.part.file === start.old.file ? $0.part.length : copied.place }
      if goal - copied.place <= rest { return copied }
      try copy(start, &copied, to: goal, into: next)
    }
  }

  private func copy(
    _ start: CompactionStart, _ copied: inout (place: Int, actions: Int, length: Int),
    to goal: Int, into next: JournalDescriptor
  ) throws(JournalFailure) {
    var lines = JournalLines(of: start.old.file, from: copied.place, to: goal)
    var block: [UInt8] = []
    while true {
      let line = try lines.next()
      if let line {
        let content = JournalLine(unchecked: line.bytes)
        if content?.kind != .snapshot { block += line.bytes + [newline] }
        if content?.kind == .action { copied.actions += 1 }
      }
      if line == nil || block.count >= 1 << 16 {
        var done = 0
        try write(block, to: next.number, &done)
        copied.length += block.count
        block.removeAll(keepingCapacity: true)
      }
      if line == nil { break }
    }
    copied.place = goal
  }

  // Step 4. Returns `false` if the compaction must be abandoned.
  private func replace(
    _ start: CompactionStart, with next: JournalDescriptor,
    _ copied: (place: Int, actions: Int, length: Int)
  ) throws(JournalFailure) -> Bool {
    var copied = copied
    return try syncing.withLock { _ throws(JournalFailure) in
      try end.withLock { end throws(JournalFailure) in
        guard isCurrent(start, end) else { return false }
        let size = Int(try fileStatus(of: start.old.file.number).st_size)
        let isExpected = size == end.part.length || end.isTorn && size > end.part.length
        if !(try isNamed(path, start.old.file.number)) || !isExpected { throw .inUse }
        if !start.isFinal { try copy(start, &copied, to: end.part.length, into: next) }
        try MiniRexJournal.synchronize(next.number)
        try check { unsafe rename(path + nextSuffix, path) }
        end.take(next, start, copied)
        do throws(JournalFailure) {
          try synchronizeFolder(of: path)
        } catch {
          end.lost = error
          throw error
        }
        end.durable = end.part.number
        end.synchronized = end.part.length
        return true
      }
    }
  }

  // Step 5. The newest file must not depend on the removed files, so it is already durable.
  private func removeOldSegments() {
    end.withLock { end in
      if end.isUnlocked { return }
      let segments = end.segments
      for segment in segments.expired(history, end.part, end.marks.second) {
        if unsafe unlink(segments.path(segment)) != 0, errno != ENOENT { return }
        end.segments.remove(segment)
      }
    }
  }
}

extension JournalFile.End {
  fileprivate mutating func take(
    _ next: JournalDescriptor, _ start: CompactionStart,
    _ copied: (place: Int, actions: Int, length: Int)
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
    marks.synced = -1
    (isTorn, unconfirmed, isPrepared, lost) = (false, nil, true, nil)
    compaction = .idle
  }
}

extension JournalSegments {
  /// The files that a policy does not keep, oldest first.
  ///
  /// The file of version 1 is always kept.
  func expired(_ history: JournalHistory, _ newest: JournalPart, _ now: Int) -> [JournalSegment] {
    var expired: [JournalSegment] = []
    for (index, segment) in list.enumerated() where segment.sequence > 0 {
      let next = index + 1 < list.count ? list[index + 1] : nil
      let isExpired: Bool
      switch history.span {
      case .everything: isExpired = false
      case .none: isExpired = true
      case .commits(let count):
        isExpired = (next?.first ?? newest.header.first) <= newest.number - count
      case .seconds(let seconds):
        let first = next.map { try? firstSecond(of: $0) } ?? newest.firstSecond
        isExpired = first.map { $0 + seconds < now } == true
      }
      if !isExpired { break }
      expired.append(segment)
    }
    return expired
  }
}
