public import Synchronization

/// The place where the senders of one source wait for full subscribers.
///
/// One sender at a time is inside, between its check and its delivery. An uncontended sender
/// needs one exchange of the word to enter, and one to exit:
///
/// - free: no hold, no sender inside. → sending, guarded
/// - sending: one sender is inside. → free, guarded
/// - guarded: the state under the lock decides. → free, sending
///
/// The lock of a valve is the innermost one. Senders resume after all locks.
@usableFromInline
package final class SendValve: Sendable {
  struct Attachment {
    let counter: InFlightCounter
    var isHolding = false
  }

  struct State {
    var senders = ValveState<SuspendedSender>()
    /// The counters of the suspending subscribers, by subscription.
    ///
    /// A dispatch and the subscriber behind it share a subscription.
    var attachments: [ObjectIdentifier: [Attachment]] = [:]
    /// Passes the holds on to the sources of a shared subscription.
    var relay: InFlightCounter?
  }

  @usableFromInline let word = Atomic<UInt>(SendValve.free)
  let state = Lock(State())
  /// A copy of `holds > 0`, for the relay.
  private let held = Atomic(false)
  private let passesOn = Atomic(false)

  @inlinable static var free: UInt { 0 }
  @inlinable static var sending: UInt { 1 }
  @inlinable static var guarded: UInt { 2 }

  /// The address of the run that owns the delivery of the valve, or 0.
  private let addressOfRun: UInt

  @usableFromInline
  package convenience init() { self.init(ofRun: 0) }

  init(ofRun address: UInt) {
    addressOfRun = address
  }

  /// `true` if a run that its callbacks retain owns the delivery.
  var belongsToRun: Bool { addressOfRun != 0 }

  /// The run that owns the delivery.
  ///
  /// Called under the lock of the delivery, while one of its slots has a callback, which retains
  /// the run.
  var run: CallbackOwnedRun? {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: addressOfRun) else { return nil }
    return unsafe Unmanaged<CallbackOwnedRun>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Creates the valve of a source that starts inside `subscribe`.
  package static func ofConnection() -> SendValve {
    let valve = SendValve()
    FlowConnection.add(valve)
    return valve
  }

  /// Returns `true` if the sender is inside, and `false` if the lock decides.
  @inlinable @inline(__always)
  func enter() -> Bool {
    word.compareExchange(
      expected: SendValve.free, desired: SendValve.sending, ordering: .acquiring
    ).exchanged
  }

  @inlinable @inline(__always)
  func leave() {
    if word.compareExchange(
      expected: SendValve.sending, desired: SendValve.free, ordering: .releasing
    ).exchanged {
      return
    }
    leaveUnderLock()
  }

  @usableFromInline
  func leaveUnderLock() {
    withState { state, resumptions in
      if let next = state.senders.leave() { resumptions.admit(next) }
    }
  }

  /// `true` unless `send` would suspend for a full subscriber or behind another sender.
  @inlinable
  var admitsOffer: Bool {
    word.load(ordering: .acquiring) != SendValve.guarded || admitsOfferUnderLock
  }

  @usableFromInline
  var admitsOfferUnderLock: Bool { state.withLock { $0.senders.admitsOffer } }

  /// Refuses all senders from now on, and forgets its subscribers.
  @usableFromInline
  package func end() {
    let counters = withState { state, resumptions -> [InFlightCounter] in
      for sender in state.senders.end() { resumptions.refuse(sender) }
      let attachments = state.attachments.values.joined()
      for attachment in attachments where attachment.isHolding { _ = state.senders.release() }
      state.attachments = [:]
      if let relay = state.relay { resumptions.check(relay) }
      return attachments.map(\.counter)
    }
    for counter in counters { counter.forget(self) }
  }

  // MARK: Subscribers

  /// Attaches a counter, whose hold may already be in force.
  ///
  /// Called under the lock of the counter.
  func add(
    _ counter: InFlightCounter, for key: ObjectIdentifier, isHolding: Bool,
    _ resumptions: inout SenderResumptions
  ) {
    withState(&resumptions) { state, _ in
      let known = state.attachments[key] ?? []
      if state.senders.hasEnded || known.contains(where: { $0.counter === counter }) { return }
      state.attachments[key] = known + [Attachment(counter: counter, isHolding: isHolding)]
      if isHolding { state.senders.hold() }
    }
  }

  /// Adds or removes the hold of a counter.
  ///
  /// Called under the lock of the counter.
  func setHold(
    _ isHolding: Bool, by counter: InFlightCounter, for key: ObjectIdentifier,
    _ resumptions: inout SenderResumptions
  ) {
    withState(&resumptions) { state, resumptions in
      let index = state.attachments[key]?.firstIndex {
        $0.counter === counter && $0.isHolding != isHolding
      }
      guard let index else { return }
      state.attachments[key]?[index].isHolding = isHolding
      if isHolding {
        state.senders.hold()
      } else if let next = state.senders.release() {
        resumptions.admit(next)
      }
    }
  }

  /// Detaches a canceled subscription, which no longer suspends a sender.
  package func detach(_ token: Subscription) {
    let key = ObjectIdentifier(token)
    let counters = withState { state, resumptions -> [InFlightCounter] in
      guard let old = state.attachments.removeValue(forKey: key) else { return [] }
      for attachment in old where attachment.isHolding {
        if let next = state.senders.release() { resumptions.admit(next) }
      }
      // Updates before the shared subscription may fill this subscriber, without a hold here.
      if let relay = state.relay { resumptions.check(relay) }
      return old.map(\.counter)
    }
    for counter in counters { counter.forget(self, key) }
  }

  func attach(_ counter: InFlightCounter, of token: Subscription) {
    var resumptions = SenderResumptions()
    counter.attach(self, for: ObjectIdentifier(token), &resumptions)
    resumptions.run()
  }

  // MARK: Connections

  /// Holds the valve while a connection is in progress.
  func holdForConnection() {
    withState { state, _ in state.senders.hold() }
  }

  func releaseConnection() {
    withState { state, resumptions in
      if let next = state.senders.release() { resumptions.admit(next) }
    }
  }

  /// `true` if a cancellation must stop the shared work before it releases its hold.
  var hasRelay: Bool { passesOn.load(ordering: .acquiring) }

  /// Makes the counter that passes the holds on to the sources of a shared subscription.
  ///
  /// - Returns: The counter, which the caller attaches, or `nil` if there is one already or the
  ///   source has ended.
  func makeRelay() -> InFlightCounter? {
    let relay = InFlightCounter(relayOf: self)
    let counters = state.withLock { state -> [InFlightCounter]? in
      if state.relay != nil || state.senders.hasEnded { return nil }
      state.relay = relay
      passesOn.store(true, ordering: .releasing)
      return state.attachments.values.joined().map(\.counter)
    }
    guard let counters else { return nil }
    for counter in counters { counter.joinRelay(relay) }
    return relay
  }

  /// The counter that passes the holds on, if there is one.
  var relay: InFlightCounter? { hasRelay ? state.withLock { $0.relay } : nil }

  var isHeld: Bool { held.load(ordering: .sequentiallyConsistent) }

  /// The counters of all suspending subscribers.
  var counters: [InFlightCounter] {
    state.withLock { $0.attachments.values.joined().map(\.counter) }
  }

  /// The counters that hold the valve.
  var holders: [InFlightCounter] {
    state.withLock { $0.attachments.values.joined().filter(\.isHolding).map(\.counter) }
  }

  /// Returns the counters that hold the valve, or `nil` if the test fails for one of them.
  func holders(while test: (InFlightCounter) -> Bool) -> [InFlightCounter]? {
    state.withLock { state in
      var holders: [InFlightCounter] = []
      for attachment in state.attachments.values.joined() where attachment.isHolding {
        if !test(attachment.counter) { return nil }
        holders.append(attachment.counter)
      }
      return holders
    }
  }

  func withState<Result: Sendable>(
    _ body: (inout State, inout SenderResumptions) -> Result
  ) -> Result {
    var resumptions = SenderResumptions()
    let result = withState(&resumptions, body)
    resumptions.run()
    return result
  }

  /// Runs the body while the state decides, and returns the decision to the word if it can.
  func withState<Result: Sendable>(
    _ resumptions: inout SenderResumptions, _ body: (inout State, inout SenderResumptions) -> Result
  ) -> Result {
    let (result, added) = state.withLock { state -> (Result, SenderResumptions) in
      var added = SenderResumptions()
      if word.exchange(SendValve.guarded, ordering: .acquiringAndReleasing) == SendValve.sending {
        state.senders.register()
      }
      let result = body(&state, &added)
      let isHeld = state.senders.holds > 0
      if isHeld != held.load(ordering: .relaxed) {
        held.store(isHeld, ordering: .sequentiallyConsistent)
        if let relay = state.relay { added.check(relay) }
      }
      if isHeld, !state.senders.suspended.isEmpty { added.look(at: self) }
      if state.senders.isIdle {
        word.store(
          state.senders.unregister() ? SendValve.sending : SendValve.free, ordering: .releasing)
      }
      return (result, added)
    }
    resumptions.formUnion(added)
    return result
  }
}
