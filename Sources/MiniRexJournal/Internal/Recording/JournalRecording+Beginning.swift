internal import MiniRex
internal import MiniRexStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// The thread that called `record` encodes the state and writes the first line. Until then, the delivering threads format
// the lines of later commits in memory, so no sender waits for the encoding.
extension JournalRecording {
  /// Called before `receive`, with the number of the commit that the first line includes.
  func collectCommits(after number: Int) {
    let offset = hold.file.extent.number - number
    memory.value.offset = offset
    memory.value.written = number
    collector.value.offset = offset
  }

  /// Writes the first line with the state, then the collected lines.
  ///
  /// A failure during the encoding has already ended the recording.
  ///
  /// The state is released before the writes, which can take long. Otherwise, a send during them would copy it.
  ///
  /// - Returns: `true` if it has written collected lines.
  func begin(of store: Store<State, Action>, with last: consuming Commit<State, Action>) -> Bool {
    let number = last.number
    do throws(JournalFailure) {
      let json = try MiniRexJournal.encoded(
        (consume last).state, hold.file.extent.number, by: makeEncoder())
      if progress.isActive {
        try writeFirst(number, json)
        shortenAfterWriting(from: store, blocks: true)
        return try writeEarly()
      }
      abandon()
    } catch {
      abandon()
      progress.fail(with: error)
    }
    return false
  }

  private func abandon() {
    memory.value.hasFailed = true
    early.withLock { $0 = nil }
  }

  private func writeFirst(_ number: Int, _ json: Data) throws(JournalFailure) {
    let part = hold.file.extent
    let follows = replayed?.contains(json, at: hold.file.generation) == true
    var members = firstMembers
    switch try hold.file.beginning {
    case .replaced:
      try replaceFile(json, follows && part.header.version == 1)
      progress.report()
      return hasWritten(number)
    case .empty:
      append(part.number, members, "\"start\"", json, to: &memory.value.line)
    case .continued:
      // A recording that repeats the state at each start would fill the disk in a crash loop.
      if follows, hold.file.bytesAfterState < json.count {
        // A `resume` with `synced` begins no recording.
        if let synced = members.synced {
          memory.value.line.appendMark(part.number, synced: synced)
          members.synced = nil
        }
        memory.value.line.append(part.number, members, "\"resume\"", Data("true".utf8))
      } else {
        members.continues = follows
        append(part.number, members, "\"start\"", json, to: &memory.value.line)
      }
    }
    try write()
  }

  /// Writes the collected lines, and lets the delivering thread write from now on.
  ///
  /// That thread waits for one write of at most 64 KiB, and with `everyCommit` for its synchronization. A write usually
  /// takes less time than the encoding of its lines took, so the rest becomes that short.
  ///
  /// - Returns: `true` if there were lines.
  private func writeEarly() throws(JournalFailure) -> Bool {
    let offset = memory.value.offset ?? 0
    var last: Int?
    while let lines = early.withLock({ $0?.takeMany() }) {
      try write(lines)
      if memory.value.hasFailed {
        abandon()
        return false
      }
      note(lines.number, at: offset)
      last = lines.number
    }
    last = try early.withLock { early throws(JournalFailure) in
      if let lines = early?.takeAll() {
        try write(lines)
        last = lines.number
      }
      if memory.value.hasFailed { last = nil }
      if last != nil, options.sync == .everyCommit { try hold.file.synchronize() }
      early = nil
      return last
    }
    if let last {
      note(last, at: offset)
      if options.sync == .everyCommit { progress.report() }
    }
    return last != nil
  }

  private func write(_ early: EarlyLines) throws(JournalFailure) {
    let offset = memory.value.offset ?? 0
    var (lines, marks) = (early.lines, early.marks)
    let (last, durable) = hold.file.marks
    marks.synced = last.synced
    // A collected line vouches for no line, because it was formatted before that line was written.
    if durable > last.synced {
      lines = JournalLineWriter()
      lines.appendMark(memory.value.written + offset, synced: durable)
      lines.append(early.lines)
      marks.synced = durable
    }
    memory.value.end = try hold.file.append(lines, upTo: early.number + offset, marks, by: writer)
    memory.value.written = early.number
    // Without an end, another recording has begun.
    if memory.value.end == nil { memory.value.hasFailed = true }
  }

  /// `record` looks for requested compactions afterwards.
  private func note(_ number: Int, at offset: Int) {
    var duration: Duration?
    if case .every(let time) = options.sync { duration = time }
    _ = progress.hasWritten(number, at: offset, synchronizingAfter: duration)
  }
}

extension JournalRecording {
  /// Collects the line of a commit, or drops the commit if an earlier one could not be encoded.
  ///
  /// - Returns: `false` if the first line is written, and the commit is not collected.
  func collects(_ commit: Commit<State, Action>) -> Bool {
    if collector.value.hasFailed { return true }
    do throws(JournalFailure) {
      if early.withLock({ $0 != nil }) {
        try format(commit)
        let collector = collector.value
        let isCollected = early.withLock { early in
          early?.add(collector.line, upTo: commit.number, collector.marks)
          return early != nil
        }
        if isCollected { return true }
      }
      collector.value = LineCollector(isOver: true)
      return false
    } catch {
      collector.value.hasFailed = true
      progress.fail(with: error)
      return true
    }
  }

  private func format(_ commit: Commit<State, Action>) throws(JournalFailure) {
    let number = commit.number + collector.value.offset
    var members = JournalLineWriter.Members()
    if collector.value.marks.take(options.now()) { members.second = collector.value.marks.second }
    collector.value.line.removeAll()
    try append(commit, number, members, to: &collector.value.line)
  }
}
