extension JournalFile {
  /// Finds where lines begin all of which have greater numbers, and before which there are few such lines.
  ///
  /// Numbers never get smaller, so it halves what is left. A line that is not as it was written says
  /// nothing about the others: all of them have to be looked at then.
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
}
