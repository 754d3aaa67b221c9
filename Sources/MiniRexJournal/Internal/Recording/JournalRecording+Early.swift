internal import Dispatch
internal import MiniRex
internal import MiniRexStore

// While a thread encodes a large state, the delivering threads format the lines of later commits in memory. That thread
// then writes the line of the state and these lines, and lets the delivering thread write from now on.
extension JournalRecording {
  /// Lets another thread encode the state of a commit without an action, and collects lines from now on.
  ///
  /// With `everyCommit`, no subscriber may receive the commit before it is on the disk, so the delivering thread would wait
  /// for the encoding in any case.
  ///
  /// - Returns: `false` if the delivering thread must encode the state.
  func encodesElsewhere(_ commit: Commit<State, Action>) -> Bool {
    if case .action = commit.cause { return false }
    if options.sync == .everyCommit || isSmall(commit.state) { return false }
    collector.value = LineCollector(
      marks: memory.value.marks, offset: memory.value.offset ?? 0)
    let job = EncodingJob { [self] in
      do throws(JournalFailure) {
        try writeEarly()
      } catch {
        abandon()
        progress.fail(with: error)
      }
    }
    var lines = EarlyLines(job: job)
    lines.add(line(of: commit), upTo: commit.number, collector.value.marks)
    progress.begin(job)
    early.withLock { $0 = lines }
    DispatchQueue.global().async { [self] in
      job.wait()
      shortenAfterEarly()
      beginRequestedCompaction()
    }
    return true
  }

  /// Collects the line of a commit, or drops the commit if an earlier one could not be encoded.
  ///
  /// - Returns: `false` if no state is being encoded, and the commit is not collected.
  func collects(_ commit: Commit<State, Action>) -> Bool {
    if collector.value.hasFailed { return true }
    do throws(JournalFailure) {
      if early.withLock({ $0 != nil }), try collect(commit) { return true }
      collector.value = LineCollector(isOver: true)
      return false
    } catch {
      collector.value.hasFailed = true
      progress.fail(with: error)
      return true
    }
  }

  private func collect(_ commit: Commit<State, Action>) throws(JournalFailure) -> Bool {
    guard case .action = commit.cause else {
      let state = line(of: commit)
      let marks = collector.value.marks
      return early.withLock { early in
        early?.add(state, upTo: commit.number, marks)
        return early != nil
      }
    }
    collector.value.line.removeAll()
    try append(
      commit, commit.number + collector.value.offset, members(), to: &collector.value.line)
    let collector = collector.value
    return early.withLock { early in
      early?.add(collector.line, upTo: commit.number, collector.marks)
      return early != nil
    }
  }

  private func line(of commit: Commit<State, Action>) -> EarlyState {
    let number = commit.number + collector.value.offset
    return EarlyState(number: number, members: members(), key: stateKey(commit.cause)) {
      () throws(JournalFailure) in
      try MiniRexJournal.encoded(commit.state, number, by: makeEncoder())
    }
  }

  /// The optional members of a collected line, which vouches for no line.
  private func members() -> JournalLineWriter.Members {
    var members = JournalLineWriter.Members()
    if collector.value.marks.take(options.now()) { members.second = collector.value.marks.second }
    return members
  }

  /// Writes the collected lines, and lets the delivering thread write from now on.
  ///
  /// That thread waits for one write of at most 64 KiB, and with `everyCommit` for its synchronization. A write usually
  /// takes less time than the encoding of its lines took, so the rest becomes that short.
  func writeEarly() throws(JournalFailure) {
    while true {
      if let parts = early.withLock({ $0?.takeMany() }) {
        for part in parts {
          try write(part)
          if memory.value.hasFailed { return abandon() }
          note(part.number)
        }
      } else if try writeRest() {
        return
      }
    }
  }

  /// - Returns: `false` if a state was collected that must be encoded before.
  private func writeRest() throws(JournalFailure) -> Bool {
    let (isOver, last) = try early.withLock { early throws(JournalFailure) -> (Bool, Int?) in
      if early?.hasState == true { return (false, nil) }
      var last: Int?
      for part in early?.takeAll() ?? [] {
        try write(part)
        last = memory.value.hasFailed ? nil : part.number
      }
      if last != nil, options.sync == .everyCommit { try hold.file.synchronize() }
      early = nil
      return (true, last)
    }
    if let last {
      note(last)
      if options.sync == .everyCommit { progress.report() }
    }
    return isOver
  }

  private func write(_ part: EarlyLines.Part) throws(JournalFailure) {
    let offset = memory.value.offset ?? 0
    var added = JournalLineWriter()
    if let state = part.state {
      append(state.number, state.members, state.key, try state.encode(), to: &added)
    } else {
      added = part.lines
    }
    var (lines, marks) = (added, part.marks)
    let (last, durable) = hold.file.marks
    marks.synced = last.synced
    // A collected line vouches for no line, because it was formatted before that line was written.
    if durable > last.synced {
      lines = JournalLineWriter()
      lines.appendMark(memory.value.written + offset, synced: durable)
      lines.append(added)
      marks.synced = durable
    }
    memory.value.end = try hold.file.append(lines, upTo: part.number + offset, marks, by: writer)
    memory.value.written = part.number
    // Without an end, another recording has begun.
    if memory.value.end == nil { memory.value.hasFailed = true }
  }

  /// Requested compactions are looked for after the last collected line.
  private func note(_ number: Int) {
    var duration: Duration?
    if case .every(let time) = options.sync { duration = time }
    _ = progress.hasWritten(
      number, at: memory.value.offset ?? 0, synchronizingAfter: duration)
  }

  func abandon() {
    memory.value.hasFailed = true
    // The states are released outside the lock.
    _ = early.withLock { $0.take() }
  }
}

extension JournalRecording: CommitRecorder {
  /// Waits while another thread encodes the state of the commit.
  ///
  /// The caller has committed the state. If the commit is not delivered yet, its line is later, as for any contended send.
  func awaitLine(of number: Int) {
    let job = early.withLock { early in
      early.flatMap { number <= $0.number ? $0.job : nil }
    }
    job?.wait()
  }
}
