import MiniRex
import MiniRexTesting
import TestSupport

/// A manual clock that cannot schedule, so that operators have to sleep on it.
struct SleepingClock: Clock {
  let manual: ManualClock
  /// How much longer each sleep takes than it should.
  var lateness = Duration.zero
  let sleeps = Shared(0)

  var now: ManualClock.Instant { manual.now }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
    sleeps.increment()
    try await manual.sleep(until: deadline.advanced(by: lateness), tolerance: tolerance)
  }
}

/// A clock that throws at once, whoever sleeps on it.
struct StoppedClock: Clock {
  struct Stopped: Error {}

  var now: ManualClock.Instant { .init(offset: .zero) }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
    throw Stopped()
  }
}

/// A scheduling clock that calls out whenever it is asked for something.
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
    let token = manual.schedule(at: deadline, action)
    return Subscription {
      onUse()
      token.invalidate()
    }
  }
}

/// A scheduling clock for which everything is due at once, inside `schedule`.
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

/// A scheduling clock that can be set while a call runs, and calls at once what is due by then.
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
