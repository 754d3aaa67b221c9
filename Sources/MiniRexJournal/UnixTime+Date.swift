public import MiniRexStore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension UnixTime {
  /// Creates a time from a date, rounded up to a millisecond.
  ///
  /// A date that is not representable becomes the first or the last time.
  public init(_ date: Date) {
    let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded(.up)
    self.init(milliseconds: Int64(exactly: milliseconds) ?? (milliseconds < 0 ? .min : .max))
  }
}

extension Date {
  /// Creates a date from a time.
  public init(_ time: UnixTime) {
    self.init(timeIntervalSince1970: Double(time.milliseconds) / 1_000)
  }
}

extension Jobs {
  /// Adds a job that starts at a date.
  ///
  /// See `add(_:notBefore:replacing:)` with a `UnixTime`.
  ///
  /// - Returns: `false` if the job is ignored.
  @discardableResult
  public mutating func add(
    _ job: Job, notBefore date: Date, replacing: JobReplacing = .beforeFirstAttempt
  ) -> Bool {
    add(job, notBefore: UnixTime(date), replacing: replacing)
  }
}
