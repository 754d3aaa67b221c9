/// What a token ends.
///
/// Unchecked because a class that is inherited from cannot be anything else, and its subclasses
/// have to repeat it. It has no state; each of them says what guards its own.
@usableFromInline
package class SubscriptionHost: @unchecked Sendable {
  init() {}

  func isSubscribed(_ token: Subscription) -> Bool { false }

  func end(_ token: Subscription) {}

  /// Ends the token, and makes the drain wait until its callback no longer runs, unless that runs
  /// this.
  func end(_ token: Subscription, for drain: Drain) {
    end(token)
  }
}

/// Something of the user's that is stopped by a closure; its state is in a `Lock`.
final class CancelledByClosure: SubscriptionHost, @unchecked Sendable {
  private let cancel: Lock<(@Sendable () -> Void)?>

  init(_ cancel: @escaping @Sendable () -> Void) {
    self.cancel = Lock(cancel)
  }

  override func isSubscribed(_ token: Subscription) -> Bool {
    cancel.withLock { $0 != nil }
  }

  override func end(_ token: Subscription) {
    let cancel = cancel.withLock { $0.take() }
    cancel?()
  }
}

/// A gate that callbacks pass through, and the inputs that reach it; both are constant.
final class GatedInputs: SubscriptionHost, @unchecked Sendable {
  private let gate: Subscription
  private let inputs: [Subscription]

  init(gate: Subscription, inputs: [Subscription]) {
    self.gate = gate
    self.inputs = inputs
  }

  override func isSubscribed(_ token: Subscription) -> Bool { gate.isSubscribed }

  override func end(_ token: Subscription) {
    gate.invalidate()
    for input in inputs { input.invalidate() }
  }

  override func end(_ token: Subscription, for drain: Drain) {
    drain.end(gate)
    for input in inputs { drain.endInput(input) }
  }
}

/// An input that lasts no longer than an object, which it does not keep alive; both are constant.
final class OwnedInput: SubscriptionHost, @unchecked Sendable {
  private let input: Subscription
  private weak let owner: AnyObject?

  init(_ input: Subscription, owner: AnyObject) {
    self.input = input
    self.owner = owner
  }

  override func isSubscribed(_ token: Subscription) -> Bool {
    owner != nil && input.isSubscribed
  }

  override func end(_ token: Subscription) {
    input.invalidate()
  }

  override func end(_ token: Subscription, for drain: Drain) {
    drain.end(input)
  }
}
