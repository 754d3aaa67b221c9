internal import MiniRex
internal import Observation

/// Reads an observable object on its actor, now and after each announced change.
///
/// Unchecked: `read` is constant and called on the actor only, the rest is in a `Lock`.
final class Observer<Value: Sendable>: @unchecked Sendable {
  private struct State {
    var receive: (@Sendable (Value) -> Void)?
    var isOver = false
  }

  private weak let object: AnyObject?
  private let isolation: any Actor
  /// Gives `nil` when the object is gone.
  private let read: () -> Value?
  private let state = Lock(State())

  init(of object: AnyObject, on isolation: any Actor, _ read: @escaping () -> Value?) {
    self.object = object
    self.isolation = isolation
    self.read = read
  }

  /// On the actor: reads, and has the next change announced.
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
    // Released when this returns, after the lock.
    _ = state.withLock { state in
      state.isOver = true
      return state.receive.take()
    }
  }

  /// The change is made by the time that the actor is next free, since it is made there.
  ///
  /// Until then the object is kept, so that its last change is told too.
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

/// What the observed object keeps until the next change.
///
/// If it goes without having come, nothing is left that could change.
private final class Announcement: Sendable {
  private let hasCome = Lock(false)
  private let onRelease: @Sendable () -> Void

  init(onRelease: @escaping @Sendable () -> Void) {
    self.onRelease = onRelease
  }

  deinit {
    if !hasCome.withLock({ $0 }) { onRelease() }
  }

  /// False if it has before.
  func come() -> Bool {
    hasCome.withLock { hasCome in
      defer { hasCome = true }
      return !hasCome
    }
  }
}

/// Keeps an object until the job on its actor has it, and not on the way back from there.
///
/// Unchecked, because the object need not be `Sendable`: it is handed from its actor to its actor.
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
