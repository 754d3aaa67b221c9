internal import MiniRex

/// A time of the calendar, in milliseconds since 1970.
///
/// A state keeps it over a restart of the program, unlike an instant of a `ContinuousClock`. With
/// `import MiniRexJournal`, it converts to and from a `Date`.
///
/// A reducer must not read ``now``, because a replay would read another time. Put it in the action.
public struct UnixTime: Hashable, InstantProtocol, Sendable, CustomStringConvertible {
  /// The milliseconds since 1970.
  public let milliseconds: Int64

  /// Creates a time.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// The time of the system's clock.
  public static var now: UnixTime { UnixTime(milliseconds: millisecondsSince1970()) }

  /// Returns the time after a duration, which is rounded up to a millisecond.
  ///
  /// The result is the last or the first representable time if the sum is not representable.
  public func advanced(by duration: Duration) -> UnixTime {
    let (seconds, attoseconds) = duration.components
    let part = 1_000_000_000_000_000 as Int64
    let rest = attoseconds / part + (attoseconds % part > 0 ? 1 : 0)
    let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000)
    let (length, isLonger) = whole.addingReportingOverflow(rest)
    let (sum, isTooLate) = milliseconds.addingReportingOverflow(length)
    if isTooLong || isLonger || isTooLate {
      return UnixTime(milliseconds: duration < .zero ? .min : .max)
    }
    return UnixTime(milliseconds: sum)
  }

  /// Returns the duration from this time to another time.
  public func duration(to other: UnixTime) -> Duration {
    .milliseconds(other.milliseconds) - .milliseconds(milliseconds)
  }

  /// Returns `true` if the first time is earlier.
  public static func < (one: UnixTime, other: UnixTime) -> Bool {
    one.milliseconds < other.milliseconds
  }

  /// The seconds since 1970.
  public var description: String { "\(Double(milliseconds) / 1_000) s" }
}

extension UnixTime: Codable {
  /// Decodes the milliseconds.
  public init(from decoder: any Decoder) throws {
    milliseconds = try decoder.singleValueContainer().decode(Int64.self)
  }

  /// Encodes the milliseconds.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(milliseconds)
  }
}
