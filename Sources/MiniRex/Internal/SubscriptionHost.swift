internal import Synchronization

/// What a token ends.
///
/// Unchecked because a class that is inherited from cannot be anything else, and its subclasses
/// have to repeat it. It has no state; each of them says what guards its own.
@usableFromInline
package class SubscriptionHost: @unchecked Sendable {
  @usableFromInline
  init() {}

  func isSubscribed(_ token: Subscription) -> Bool { false }

  func end(_ token: Subscription) {}

  /// What waits on the way to the callback, and what was dropped there.
  func bufferCounts(of token: Subscription) -> BufferCounts { BufferCounts() }

  /// Tells the sources in whose turns the callback is called; none where it hops, waits or merges.
  func tellOrigins(to origins: inout Origins) {}

  /// Ends the token, and makes the drain wait until its callback no longer runs, unless that runs
  /// this.
  func end(_ token: Subscription, for drain: Drain) {
    end(token)
  }
}

/// Something of the user's that is stopped by a closure.
///
/// Unchecked: whoever sets `hasEnded` takes `cancel`, and nobody else touches it.
final class CancelledByClosure: SubscriptionHost, @unchecked Sendable {
  private var cancel: ClosingCall?
  private let hasEnded = Atomic(false)

  init(_ cancel: @escaping @Sendable () -> Void) {
    self.cancel = ClosingCall(cancel)
  }

  override func isSubscribed(_ token: Subscription) -> Bool {
    !hasEnded.load(ordering: .acquiring)
  }

  override func end(_ token: Subscription) {
    if hasEnded.exchange(true, ordering: .acquiringAndReleasing) { return }
    var cancel = cancel.take()
    cancel?()
    ReleaseChain.release(&cancel)
  }
}

/// A gate that callbacks pass through, and the inputs that reach it; all of it is constant.
final class GatedInputs: SubscriptionHost, @unchecked Sendable {
  private let gate: Subscription
  private let inputs: [Subscription]
  private let switched: SwitchedInputs?

  init(gate: Subscription, inputs: [Subscription], switched: SwitchedInputs? = nil) {
    self.gate = gate
    self.inputs = inputs
    self.switched = switched
  }

  override func isSubscribed(_ token: Subscription) -> Bool { gate.isSubscribed }

  override func tellOrigins(to origins: inout Origins) {
    guard let switched else { return }
    for input in inputs { input.host.tellOrigins(to: &origins) }
    switched.tellOrigins(to: &origins)
  }

  override func end(_ token: Subscription) {
    gate.invalidate()
    for input in inputs { input.invalidate() }
  }

  override func bufferCounts(of token: Subscription) -> BufferCounts {
    // The gate is that of a delivery which belongs to this token alone.
    let own = BufferCounts(pending: (gate.host as? AnyDelivery)?.pendingUpdates ?? 0)
    return inputs.reduce(own) { $0 + $1.bufferCounts }
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

  override func tellOrigins(to origins: inout Origins) {
    input.host.tellOrigins(to: &origins)
  }

  override func end(_ token: Subscription) {
    input.invalidate()
  }

  override func bufferCounts(of token: Subscription) -> BufferCounts { input.bufferCounts }

  override func end(_ token: Subscription, for drain: Drain) {
    drain.end(input)
  }
}
