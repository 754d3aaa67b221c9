import MiniRex
import Observation

/// A member of a state that was read, until it has changed.
///
/// Each has a registrar of its own, so that what is told late reaches nobody who has read the new value.
final class ObservedMember: Observable, Sendable {
  private let registrar = ObservationRegistrar()
  private let token = Lock<Subscription?>(nil)

  private var value: Void { () }

  func wasRead() {
    registrar.access(self, keyPath: \.value)
  }

  /// Told at once, and once more by a job of the main actor: who reads there observes only when its
  /// closure has returned, which is before that job.
  func hasChanged() {
    registrar.withMutation(of: self, keyPath: \.value) {}
    Task { @MainActor in
      registrar.withMutation(of: self, keyPath: \.value) {}
    }
  }

  func attach(_ token: Subscription) {
    self.token.withLock { $0 = token }
  }

  func invalidate() {
    token.withLock { $0.take() }?.invalidate()
  }
}
