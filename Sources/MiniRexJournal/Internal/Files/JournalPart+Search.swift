extension JournalPart {
  /// Returns an offset from which on every line has a greater number, in O(log n).
  ///
  /// At most `blockSize` bytes of such lines precede it. Numbers never decrease, so a binary search finds it. At a
  /// damaged line the search returns `end`, because the line's number proves nothing. A snapshot that was written after
  /// later lines has a smaller number, so the search skips it.
  func endOfLines(upTo number: Int, before end: Int) throws(JournalFailure) -> Int {
    var (low, high) = (0, end)
    while high - low > blockSize {
      let middle = low + (high - low) / 2
      var lines = linesBackwards(before: middle)
      _ = try lines.nextPart()
      var found: (offset: Int, line: JournalLine)?
      while found == nil, let last = try lines.next(), last.offset > 0 {
        guard let line = JournalLine(last.bytes) else { return end }
        if line.back == nil { found = (last.offset, line) }
      }
      guard let found else {
        low = middle
        continue
      }
      if found.line.number > number { high = found.offset } else { low = middle }
    }
    return high
  }

  /// Returns the end of the run that made this commit: the next `start`, or `end`.
  ///
  /// The first `start` of a file belongs to its run. A damaged line after the commit can be a `start`, so the lines from it
  /// on do not count.
  func endOfRun(of number: Int, before end: Int) throws(JournalFailure) -> Int {
    var lines = linesBackwards(before: end)
    var runEnd = end
    while let (offset, bytes) = try lines.next(), offset > 0 {
      guard let line = JournalLine(bytes) else {
        runEnd = offset
        continue
      }
      if line.back != nil || line.number > number { continue }
      if line.number < number || line.kind.isCommit { break }
      if line.kind == .start, offset > header.length { runEnd = offset }
    }
    return runEnd
  }

  /// Returns the number of the last commit up to a second, in O(log n).
  ///
  /// A second that is greater than the next second is of a clock that was ahead, and does not count.
  func lastNumber(upTo second: Int) throws(JournalFailure) -> Int {
    var (low, high) = (header.length, length)
    while high - low > blockSize {
      let middle = low + (high - low) / 2
      var lines = linesBackwards(before: middle)
      _ = try lines.nextPart()
      var found: (offset: Int, second: Int)?
      while found == nil, let (offset, bytes) = try lines.next(), offset > low {
        guard let line = JournalLine(bytes) else { throw .damaged(atByte: offset) }
        found = line.second.map { (offset, $0) }
      }
      if let found, found.second > second, try self.second(after: found.offset) ?? .max > second {
        high = found.offset
      } else {
        low = middle
      }
    }
    var start = linesBackwards(before: low)
    var lines = lines(from: try start.nextPart().offset)
    // The last commit before the first later line, unless an earlier line follows.
    var last: Int?
    while let (offset, bytes) = try lines.next() {
      guard let line = JournalLine(bytes) else { throw .damaged(atByte: offset) }
      if let found = line.second {
        if found <= second { last = nil } else { last = last ?? line.numberBefore }
      }
      if offset >= high { break }
    }
    return last ?? number
  }

  /// Returns the second of the first line after a line that has one.
  func second(after offset: Int) throws(JournalFailure) -> Int? {
    var lines = lines(from: offset)
    _ = try lines.next()
    while let (offset, bytes) = try lines.next() {
      guard let line = JournalLine(bytes) else { throw .damaged(atByte: offset) }
      if let second = line.second { return second }
    }
    return nil
  }
}

extension JournalLine {
  /// The number of the last commit before the line.
  fileprivate var numberBefore: Int { kind.isCommit ? number - 1 : number }
}
