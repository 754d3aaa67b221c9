internal import Foundation

extension Date {
  /// The Unix time in seconds, rounded to milliseconds.
  var roundedTime: Double { timeIntervalSince1970.rounded(to: 1_000) }
}

extension Double {
  /// Rounds to a multiple of a fraction: to tenths with 10.
  func rounded(to parts: Double) -> Double { (self * parts).rounded() / parts }
}
