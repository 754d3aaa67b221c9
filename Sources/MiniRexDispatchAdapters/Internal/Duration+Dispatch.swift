package import Dispatch
internal import MiniRex

/// What Dispatch takes for a duration: rounded up to nanoseconds, and 292 years at most.
package func dispatchInterval(_ duration: Duration, of operation: String) -> DispatchTimeInterval {
  if duration < .zero {
    misuse("'\(operation)' takes a duration that is not negative, not \(duration).")
  }
  // Not all durations have components: those of more seconds than an integer can count stop the
  // program.
  if duration > .nanoseconds(Int64.max) { return .never }
  let (seconds, attoseconds) = duration.components
  let nanoseconds = (attoseconds + 999_999_999) / 1_000_000_000
  let (sum, isTooLong) = (seconds * 1_000_000_000).addingReportingOverflow(nanoseconds)
  return isTooLong ? .never : .nanoseconds(Int(sum))
}
