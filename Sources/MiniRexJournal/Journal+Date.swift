#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Journal {
  /// Returns the number of the last commit up to a date.
  ///
  /// ```swift
  /// let yesterday = try journal.number(at: .now - 86_400)
  /// let board = try journal.replay(Board(), upTo: yesterday, reducer: reducer)
  /// ```
  ///
  /// The journal keeps whole seconds, so the result is the last commit of the date's second. A clock that was set back
  /// makes no earlier second, except after it was ahead. A clock that was wrong for one commit changes no other result.
  /// See <doc:OperatingAJournal> for a clock that was wrong for longer. The search takes O(log n).
  ///
  /// Throws ``JournalFailure/notKept(first:)`` for a date before the first kept commit. The commits of a file of version
  /// 1 have no date, and count as older than any other.
  ///
  /// - Parameter date: The date, by the clock of the system that recorded.
  public func number(at date: Date) throws(JournalFailure) -> Int {
    let (newest, segments, _) = file.files
    return try segments.number(at: date, newest, file.marks.0.latest)
  }
}

extension JournalSegments {
  /// Returns the number of the last commit up to a date, by a binary search over the files.
  ///
  /// - Parameter last: The second of the last commit.
  func number(at date: Date, _ newest: JournalPart, _ last: Int) throws(JournalFailure) -> Int {
    if newest.length == 0 { return 0 }
    let seconds = date.timeIntervalSince1970.rounded(.down)
    let second = Int(exactly: seconds) ?? (seconds < 0 ? .min : .max)
    if last >= 0, last <= second { return newest.number }
    // The first file that begins later.
    var (low, high) = (0, list.count + 1)
    while low < high {
      let middle = (low + high) / 2
      let first = try self.second(of: middle, newest, last)
      if let first, first > second { high = middle } else { low = middle + 1 }
    }
    let starts = list.map(\.first) + [newest.header.first]
    guard low > 0 else { throw .notKept(first: starts[0]) }
    let index = low - 1
    guard let part = index == list.count ? newest : try open(index, before: newest) else {
      throw .notKept(first: starts[index + 1])
    }
    if part.header.version == 1 { throw .notKept(first: starts.dropFirst(index + 1).first ?? 0) }
    let number = try part.lastNumber(upTo: second)
    return index < list.count ? min(number, starts[index + 1]) : number
  }

  /// Returns the second in which a file begins.
  ///
  /// If the next file begins before it, the clock was ahead, and the next second of the file counts.
  private func second(of index: Int, _ newest: JournalPart, _ last: Int) throws(JournalFailure)
    -> Int?
  {
    func first(_ index: Int) throws(JournalFailure) -> Int? {
      index == list.count ? newest.firstSecond : try firstSecond(of: index, before: newest)
    }
    guard let own = try first(index) else { return nil }
    guard let next = index == list.count ? last : try first(index + 1), own > next,
      let part = index == list.count ? newest : try open(index, before: newest)
    else { return own }
    return try part.second(after: part.header.length) ?? next
  }
}
