package import Dispatch
internal import MiniRex

/// What Dispatch takes for a duration: rounded up to nanoseconds, and 292 years at most.
package func dispatchInterval(_ duration: Duration, of operation: String) -> DispatchTimeInterval {
  if duration < .zero {
    misuse("'\(operation)' takes a duration that is not negative, not \(duration).")
  }
  let (seconds, attoseconds) = duration.components
  let nanoseconds = (attoseconds + 999_999_999) / 1_000_000_000
  let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
  let (sum, isStillTooLong) = product.addingReportingOverflow(nanoseconds)
  return isTooLong || isStillTooLong ? .never : .nanoseconds(Int(sum))
}
