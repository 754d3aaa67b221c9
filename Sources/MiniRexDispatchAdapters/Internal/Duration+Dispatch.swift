package import Dispatch
internal import MiniRex

/// Converts a duration for Dispatch, rounded up to nanoseconds and limited to 292 years.
package func dispatchInterval(_ duration: Duration, of operation: String) -> DispatchTimeInterval {
  if duration < .zero {
    misuse("'\(operation)' requires a duration of 0 or more, not \(duration).")
  }
  // `components` traps for durations whose seconds exceed an integer.
  if duration > .nanoseconds(Int64.max) { return .never }
  let (seconds, attoseconds) = duration.components
  let nanoseconds = (attoseconds + 999_999_999) / 1_000_000_000
  let (sum, isTooLong) = (seconds * 1_000_000_000).addingReportingOverflow(nanoseconds)
  return isTooLong ? .never : .nanoseconds(Int(sum))
}
