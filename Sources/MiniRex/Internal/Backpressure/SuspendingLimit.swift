/// The parameters of `BufferingPolicy.suspending`.
///
/// An object, so that the limits of other policies stay small.
@usableFromInline
package final class SuspendingLimit: Sendable {
  static let relay = SuspendingLimit(.max)

  private static let measure = Timekeeper(ContinuousClock())

  let count: Int
  let timeout: Duration?
  let timekeeper: Timekeeper

  init(_ count: Int) {
    requireRoom(count, of: "suspending")
    self.count = count
    timeout = nil
    timekeeper = SuspendingLimit.measure
  }

  init(_ count: Int, timeout: Duration, clock: any Clock<Duration>) {
    requireRoom(count, of: "suspending")
    self.count = count
    self.timeout = clampedWait(timeout, of: "suspending")
    timekeeper = Timekeeper(clock)
  }

  func now() -> Duration { timekeeper.now() }
}
