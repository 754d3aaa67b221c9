internal import CLibrary
internal import MiniRex

extension JournalFile {
  /// Makes the lines that were found durable before the first line after them, and removes a torn line.
  ///
  /// A cut is synchronized: otherwise a second power loss could join its remains and the lines that replace them. The
  /// lines are written again, because a failed synchronization of the last process can have left them in memory only.
  func prepare(_ end: inout End) throws(JournalFailure) {
    if let refusal { throw refusal }
    if let lost = end.disk.lost { throw lost }
    if !end.isTorn && end.isPrepared { return }
    let descriptor = end.part.file.number
    // Truncating a shorter file would fill it with zeros.
    if Int(try fileStatus(of: descriptor).st_size) < end.part.length { throw .inUse }
    if !end.isPrepared, end.weight.first.end == 0, end.part.length > 0 {
      end.weight.first = try firstState(of: end.part)
      end.weight.firstSecond = end.part.firstSecond
    }
    let isRewritten = end.unconfirmed != nil
    if end.isTorn { try check { ftruncate(descriptor, off_t(end.part.length)) } }
    if let offset = end.unconfirmed { try rewrite(end.part, from: offset) }
    if end.isTorn || isRewritten {
      do throws(JournalFailure) {
        try synchronize(&end)
        if isRewritten { try synchronizeFolder(of: path) }
      } catch {
        end.disk.lost = error
        throw error
      }
      end.disk.length = end.part.length
      end.disk.durable = end.part.length > 0 ? end.part.number : -1
    }
    end.isTorn = false
    end.unconfirmed = nil
    if end.part.length == 0 { try begin(&end) }
    end.isPrepared = true
  }

  /// Writes the first line of a journal, and waits until it is on the disk.
  ///
  /// Otherwise a power loss could lose it, and keep sectors behind it. A lost first sector of a long file would then be
  /// no proof of damage.
  private func begin(_ end: inout End) throws(JournalFailure) {
    try setAside(&end)
    var done = 0
    end.isTorn = true
    try write(end.part.header.line, to: end.part.file.number, &done)
    do throws(JournalFailure) {
      try MiniRexJournal.synchronize(end.part.file.number)
    } catch {
      end.disk.lost = error
      // Without a first line on the disk, the file must be empty again.
      ftruncate(end.part.file.number, 0)
      throw error
    }
    end.isTorn = false
  }

  /// Appends a line that vouches for the lines before it, if they are on the disk and no other line
  /// vouches for them.
  ///
  /// The line is not synchronized: if it is lost, nothing else is.
  func vouch() {
    end.withLock { end in
      let file = end.part.file.number
      guard isWritable, end.isPrepared, !end.isTorn, end.disk.lost == nil, !end.isUnlocked,
        end.part.length > 0, end.disk.durable > end.marks.synced,
        (try? isNamed(path, file)) == true,
        (try? fileStatus(of: file)).map({ Int($0.st_size) }) == end.part.length
      else { return }
      var line = JournalLineWriter()
      line.appendMark(end.part.number, synced: end.disk.durable)
      var done = 0
      do throws(JournalFailure) {
        try write(line.bytes, to: file, &done)
      } catch {
        end.isTorn = true
        return
      }
      let isSynchronized = end.disk.length == end.part.length
      end.part.length += line.bytes.count
      end.marks.synced = end.disk.durable
      if isSynchronized { end.disk.length = end.part.length }
    }
  }

  private func synchronize(_ end: inout End) throws(JournalFailure) {
    let start = ContinuousClock.now
    try MiniRexJournal.synchronize(end.part.file.number)
    end.disk.countSync(ContinuousClock.now - start)
  }

  /// Uses another descriptor, because Linux ignores offsets under `O_APPEND`.
  func rewrite(_ part: JournalPart, from offset: Int) throws(JournalFailure) {
    let writing = JournalDescriptor(try check { unsafe open(path, O_WRONLY | O_CLOEXEC) })
    guard try isSame(writing.number, part.file.number) else { throw .inUse }
    var place = offset
    while place < part.length {
      var block: [UInt8] = []
      try read(
        part.file.number, at: place, upTo: min(1 << 20, part.length - place), appendingTo: &block)
      if block.isEmpty { throw .inUse }
      try overwrite(block, in: writing.number, at: place)
      place += block.count
    }
  }

  private func firstState(of part: JournalPart) throws(JournalFailure) -> JournalWeight.State {
    var lines = part.lines(from: part.header.length)
    guard let (offset, bytes) = try lines.next() else { return JournalWeight.State() }
    return JournalWeight.State(end: offset + bytes.count + 1, bytes: bytes.count)
  }

  /// Finds the lines before the last state that no later line vouches for, so that they are rewritten as well.
  ///
  /// It reads the lines before that state back to the last line that was durable.
  ///
  /// - Returns: `true` if one of them is lost. The last state then hides the loss.
  func hidesLoss() throws(JournalFailure) -> Bool {
    let (part, state) = end.withLock { ($0.part, $0.weight.last) }
    var durable = end.withLock { $0.disk.durable }
    let stateEnd = max(state.end, part.firstLine)
    var (lines, start) = (part.linesBackwards(before: stateEnd), stateEnd)
    while let (offset, bytes) = try lines.next(), offset >= part.header.length {
      guard let line = JournalLine(bytes) else { return true }
      durable = max(durable, line.synced ?? -1)
      // A state that follows the last durable commit has its number, but can be lost.
      let isBefore = line.number < durable || line.kind.isCommit && line.number == durable
      if isBefore, line.back == nil { break }
      start = offset
    }
    end.withLock { end in
      // A later line that vouches for a line after the state vouches for all lines before it.
      if let offset = end.unconfirmed, offset < stateEnd { end.unconfirmed = min(offset, start) }
    }
    return false
  }
}
