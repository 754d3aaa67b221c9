import MiniRex
import MiniRexTesting
import TestSupport

/// A clock whose `sleep` throws immediately.
struct StoppedClock: Clock {
  struct Stopped: Error {}

  var now: ManualClock.Instant { .init(offset: .zero) }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
    throw Stopped()
  }
}

/// A scheduling clock that runs a closure on each use.
struct NosyClock: SchedulingClock {
  let manual = ManualClock()
  let onUse: @Sendable () -> Void

  var now: ManualClock.Instant {
    onUse()
    return manual.now
  }

  var minimumResolution: Duration { .zero }

  func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
    try await manual.sleep(until: deadline, tolerance: tolerance)
  }

  func schedule(
    at deadline: ManualClock.Instant, _ action: @escaping @Sendable () -> Void
  ) -> Subscription {
    onUse()
    let subscription = manual.schedule(at: deadline, action)
    return Subscription {
      onUse()
      subscription.invalidate()
    }
  }
}

/// A scheduling clock that moves at the beginning of `schedule`, as if another thread advanced it.
struct MovingClock: SchedulingClock {
  let manual = ManualClock()
  /// The duration of the move in the next `schedule`.
  let step = Shared(Duration.zero)

  var now: ManualClock.Instant { manual.now }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
    try await manual.sleep(until: deadline, tolerance: tolerance)
  }

  func schedule(
    at deadline: ManualClock.Instant, _ action: @escaping @Sendable () -> Void
  ) -> Subscription {
    let step = step.change { step in
      defer { step = .zero }
      return step
    }
    manual.advance(by: step)
    return manual.schedule(at: deadline, action)
  }
}

/// A scheduling clock that runs every action synchronously, inside `schedule`.
struct HastyClock: SchedulingClock {
  var now: ManualClock.Instant { .init(offset: .zero) }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {}

  func schedule(
    at deadline: ManualClock.Instant, _ action: @escaping @Sendable () -> Void
  ) -> Subscription {
    action()
    return .ended
  }
}

/// A scheduling clock that a test can set during a call.
///
/// Due actions run synchronously.
struct HandClock: SchedulingClock {
  private let time = Shared(Duration.zero)
  private let waiting = Shared<[(deadline: Duration, action: @Sendable () -> Void)]>([])

  var now: ManualClock.Instant { .init(offset: time.value) }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {}

  func schedule(
    at deadline: ManualClock.Instant, _ action: @escaping @Sendable () -> Void
  ) -> Subscription {
    waiting.change { $0.append((deadline.offset, action)) }
    callWhatIsDue()
    return .ended
  }

  func set(to now: Duration) {
    time.value = now
  }

  func callWhatIsDue() {
    let now = time.value
    let due = waiting.change { waiting in
      let due = waiting.filter { $0.deadline <= now }
      waiting.removeAll { $0.deadline <= now }
      return due
    }
    for call in due { call.action() }
  }
}
