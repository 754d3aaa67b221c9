extension JournalFile {
  /// Returns an offset from which on every line has a greater number, in O(log n).
  ///
  /// At most `blockSize` bytes of such lines precede it. Numbers never decrease, so a binary search finds it. At a
  /// damaged line the search returns `end`, because the line's number proves nothing.
  func endOfLines(upTo number: Int, before end: Int) throws(JournalFailure) -> Int {
    var (low, high) = (0, end)
    while high - low > blockSize {
      let middle = low + (high - low) / 2
      var lines = linesBackwards(before: middle)
      _ = try lines.nextPart()
      guard let last = try lines.next(), last.offset > 0 else {
        low = middle
        continue
      }
      guard let line = JournalLine(last.bytes) else { return end }
      if line.number > number { high = last.offset } else { low = middle }
    }
    return high
  }

  /// Returns the end of the run that made this commit: the next `start`, or `end`.
  ///
  /// The first `start` of a file belongs to its run. The lines between the commit and the next commit must be intact.
  /// Otherwise a damaged `start` would pass the state of the next run for the state after the commit.
  func endOfRun(of number: Int, before end: Int) throws(JournalFailure) -> Int {
    var lines = linesBackwards(before: end)
    var runEnd = end
    var isNear = false
    while let (offset, bytes) = try lines.next(), offset > 0 {
      isNear = isNear || JournalLine(unchecked: bytes).map { $0.number <= number } == true
      if !isNear { continue }
      guard let line = JournalLine(bytes) else { throw .damaged(atByte: offset) }
      if line.number < number || line.kind.isCommit { break }
      if line.kind == .start, offset > journalHeader.count { runEnd = offset }
    }
    return runEnd
  }
}
