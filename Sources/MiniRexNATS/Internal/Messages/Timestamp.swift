#if NATS
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A point in time with the precision of the server: nanoseconds since 1970.
struct Timestamp: Hashable, Sendable, Comparable {
  let nanoseconds: Int64

  init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  static var now: Timestamp { Timestamp(nanoseconds: Int64(Date().timeIntervalSince1970 * 1e9)) }

  static func < (first: Timestamp, second: Timestamp) -> Bool {
    first.nanoseconds < second.nanoseconds
  }

  /// Creates a timestamp from RFC 3339, which the server writes.
  init?(_ text: String) {
    guard let (seconds, fraction) = ISO8601.parse(text) else { return nil }
    let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isBeyond) = product.addingReportingOverflow(Int64(fraction))
    if overflows || isBeyond { return nil }
    nanoseconds = sum
  }

  var text: String {
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return rest < 0
      ? ISO8601.text(seconds - 1, fraction: rest + 1_000_000_000)
      : ISO8601.text(seconds, fraction: rest)
  }
}

/// Dates as ISO 8601, with a fraction of a second of up to nine digits.
enum ISO8601 {
  /// Writes the shortest fraction of 0, 3, 6, or 9 digits that keeps the nanoseconds.
  static func text(_ seconds: Int64, fraction: Int64) -> String {
    let whole = Date(timeIntervalSince1970: Double(seconds)).formatted(Date.ISO8601FormatStyle())
    if fraction == 0 { return whole }
    var (digits, count) = (fraction, 9)
    while digits % 1_000 == 0 { (digits, count) = (digits / 1_000, count - 3) }
    let text = String(digits)
    return whole.dropLast() + "." + String(repeating: "0", count: count - text.utf8.count) + text
      + "Z"
  }

  /// Reads the seconds since 1970 and the nanoseconds, with any number of digits and any time zone.
  static func parse(_ text: String) -> (seconds: Int64, nanoseconds: Int)? {
    var whole = text
    var nanoseconds = 0
    if let dot = text.firstIndex(of: ".") {
      let digits = text[text.index(after: dot)...].prefix { $0.isASCII && $0.isNumber }
      if digits.isEmpty { return nil }
      for place in 0..<9 {
        let digit = digits.dropFirst(place).first?.wholeNumberValue ?? 0
        nanoseconds = nanoseconds * 10 + digit
      }
      whole = String(text[..<dot] + text[digits.endIndex...])
    }
    guard let date = try? Date(whole, strategy: Date.ISO8601FormatStyle()),
      let seconds = Int64(exactly: date.timeIntervalSince1970.rounded(.towardZero))
    else { return nil }
    return (seconds, nanoseconds)
  }

  /// Writes a date so that reading it returns the same date, for the years 1 to 9999.
  static func text(of date: Date) -> String? {
    let time = date.timeIntervalSinceReferenceDate
    guard (-63_114_076_800...252_423_993_599).contains(time) else { return nil }
    let whole = time.rounded(.down)
    let nanoseconds = ((time - whole) * 1e9).rounded()
    let seconds = Int64(whole) + Int64(Date.timeIntervalBetween1970AndReferenceDate)
    // Six digits are exact for a clock with microseconds, and shorter.
    let microseconds = (nanoseconds / 1_000).rounded()
    let isShort = date == self.date(seconds, Int(microseconds) * 1_000)
    let fraction = Int64(isShort ? microseconds * 1_000 : nanoseconds)
    return fraction == 1_000_000_000
      ? text(seconds + 1, fraction: 0) : text(seconds, fraction: fraction)
  }

  static func date(of text: String) -> Date? {
    parse(text).map { date($0.seconds, $0.nanoseconds) }
  }

  private static func date(_ seconds: Int64, _ nanoseconds: Int) -> Date {
    let whole = Double(seconds) - Date.timeIntervalBetween1970AndReferenceDate
    return Date(timeIntervalSinceReferenceDate: whole + Double(nanoseconds) / 1e9)
  }
}
#endif
