import MiniRex
import Observation
import Synchronization

/// A member of a state that an observer has read.
///
/// Successive values are observed under 64 rotating numbers. A late report of a change therefore
/// misses an observer that has read the new value, unless 64 changes are pending. A pending report
/// takes one bit, so a blocked main thread costs one job per member.
final class ObservedMember: Observable, Sendable {
  private struct Reports: Sendable {
    /// One bit for each number.
    var waiting: UInt64 = 0
    var hasJob = false
  }

  private static let numbers = (0..<UInt64.bitWidth).map {
    \ObservedMember.[number: $0] as any KeyPath<ObservedMember, Void> & Sendable
  }

  private let registrar = ObservationRegistrar()
  private let subscription = Lock<Subscription?>(nil)
  private let reports = Lock(Reports())
  /// The number under which observers read the current value.
  ///
  /// Exclusive access to the store guards it and `isCurrent`.
  let number = Atomic(0)
  /// `false` after a change, until the member is read again.
  let isCurrent = Atomic(false)

  private subscript(number number: Int) -> Void { () }

  /// Begins to observe a value under another number.
  ///
  /// Called with exclusive access.
  func begin() {
    number.relaxed = (number.relaxed + 1) % Self.numbers.count
    isCurrent.relaxed = true
  }

  /// Marks the observed value as changed.
  ///
  /// Called with exclusive access.
  func end() {
    isCurrent.relaxed = false
  }

  /// A Boolean value that indicates whether a job of the main actor is pending.
  var hasJob: Bool { reports.withLock { $0.hasJob } }

  func wasRead(_ number: Int) {
    registrar.access(self, keyPath: Self.numbers[number])
  }

  /// Reports a change synchronously, and again in a job of the main actor.
  ///
  /// On the main actor, an observer registers after its closure has returned, which is before that
  /// job.
  ///
  /// - Parameter completion: A closure that runs after the job.
  func hasChanged(_ number: Int, completion: @escaping @Sendable () -> Void) {
    report(number)
    let isFirst = reports.withLock { reports in
      defer { reports.hasJob = true }
      reports.waiting |= 1 << UInt64(number)
      return !reports.hasJob
    }
    if !isFirst { return }
    Task { @MainActor in
      reportWaiting()
      completion()
    }
  }

  private func reportWaiting() {
    let waiting = reports.withLock { reports in
      defer { reports = Reports() }
      return reports.waiting
    }
    for number in Self.numbers.indices where waiting & 1 << UInt64(number) != 0 { report(number) }
  }

  private func report(_ number: Int) {
    registrar.withMutation(of: self, keyPath: Self.numbers[number]) {}
  }

  func attach(_ subscription: Subscription) {
    self.subscription.withLock { $0 = subscription }
  }

  func invalidate() {
    subscription.withLock { $0.take() }?.invalidate()
  }
}
