internal import MiniRex
internal import Observation

/// Reads an observable object on its actor, on subscribing and after each announced change.
///
/// Unchecked: `read` is constant and runs on the actor only. A `Lock` guards the rest.
final class ObservationReader<Value: Sendable>: @unchecked Sendable {
  private struct State {
    var receive: (@Sendable (Value) -> Void)?
    var isOver = false
  }

  private weak let object: AnyObject?
  private let isolation: any Actor
  /// Returns `nil` after the object is deallocated.
  private let read: () -> Value?
  private let state = Lock(State())

  init(of object: AnyObject, on isolation: any Actor, _ read: @escaping () -> Value?) {
    self.object = object
    self.isolation = isolation
    self.read = read
  }

  /// Reads on the actor, and registers for the next change.
  func observe() -> Value? {
    let announcement = Announcement { [weak self] in self?.end() }
    return withObservationTracking {
      read()
    } onChange: { [weak self] in
      if announcement.come() { self?.observeAgain() }
    }
  }

  func begin(_ receive: @escaping @Sendable (Value) -> Void) {
    state.withLock { state in
      if !state.isOver { state.receive = receive }
    }
  }

  func end() {
    // The value is released after the lock, when this function returns.
    _ = state.withLock { state in
      state.isOver = true
      return state.receive.take()
    }
  }

  /// Reads again in a job on the actor.
  ///
  /// The change is complete by then, because it also runs on the actor.
  ///
  /// The job retains the object, so that its last change is published.
  private func observeAgain() {
    guard let object else { return end() }
    let loan = Loan(object)
    Task { [weak self, isolation] in
      await isolation.perform { withExtendedLifetime(loan.take()) { self?.publish() } }
    }
  }

  private func publish() {
    guard let receive = state.withLock({ $0.receive }), let value = observe() else { return }
    receive(value)
  }
}

/// The registration that the observed object retains until the next change.
///
/// Its release without a change means that no further change is possible.
private final class Announcement: Sendable {
  private let hasCome = Lock(false)
  private let onRelease: @Sendable () -> Void

  init(onRelease: @escaping @Sendable () -> Void) {
    self.onRelease = onRelease
  }

  deinit {
    if !hasCome.withLock({ $0 }) { onRelease() }
  }

  /// Records the announcement of a change, and returns `false` from the second call on.
  func come() -> Bool {
    hasCome.withLock { hasCome in
      defer { hasCome = true }
      return !hasCome
    }
  }
}

/// Retains an object until the job on its actor takes it, so that it is not released elsewhere.
///
/// Unchecked, because the object need not be `Sendable`: it is passed from its actor to its actor.
private final class Loan: @unchecked Sendable {
  private var object: AnyObject?

  init(_ object: AnyObject) {
    self.object = object
  }

  func take() -> AnyObject? { object.take() }
}

extension Actor {
  fileprivate func perform(_ body: @Sendable () -> Void) {
    body()
  }
}
