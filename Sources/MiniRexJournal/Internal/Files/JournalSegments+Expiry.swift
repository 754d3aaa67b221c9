extension JournalSegments {
  /// The files that a policy does not keep, oldest first.
  ///
  /// The file of version 1 is always kept.
  func expired(_ history: JournalHistory, _ newest: JournalPart, _ marks: JournalMarks)
    -> ArraySlice<JournalSegment>
  {
    let closed = list[(list.firstIndex { $0.sequence > 0 } ?? list.endIndex)...]
    switch history.span {
    case .everything: return []
    case .none: return closed
    case .commits(let count):
      let ends = closed.dropFirst().map(\.first) + [newest.header.first]
      return closed.prefix(ends.count { $0 <= newest.number - count })
    case .seconds(let span):
      let now = marks.now(for: span)
      var (expired, latest) = (closed.startIndex, 0)
      for index in closed.indices {
        let isLast = index + 1 == closed.endIndex
        let end = isLast ? newest.firstSecond : try? firstSecond(of: index + 1, before: newest)
        // A file that ended in the future, or before an earlier file, ended while the clock was wrong. Then the end of
        // a later file decides.
        guard let end, end <= now, end >= latest else { continue }
        if now - end <= span { break }
        (expired, latest) = (index + 1, end)
      }
      return closed[..<expired]
    }
  }
}
