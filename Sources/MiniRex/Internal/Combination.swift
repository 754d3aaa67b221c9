public import Synchronization

/// A change of an input on its way to the subscriber of a combination.
@usableFromInline
struct CombinationChange: Sendable {
  /// Applies the change, if it had to wait for its turn; false if there is nothing to tell.
  @usableFromInline let apply: (@Sendable () -> Bool)?

  @inlinable
  init(_ apply: (@Sendable () -> Bool)? = nil) {
    self.apply = apply
  }
}

/// Brings the changes of several inputs into one order, for one subscriber.
///
/// Whoever brings a change while nobody delivers applies it to its cell as the deliverer; while
/// somebody does, the change waits in the queue. So the cells need no lock.
///
/// A source that several inputs share brings their changes one after the other. From the first of
/// them until its turn comes to the last slot of the combination, whatever changes is held back,
/// and then told at once.
///
/// Unchecked like every `SubscriptionHost`: what is not constant once it has connected says what
/// guards it.
@usableFromInline
final class Combination: SubscriptionHost, @unchecked Sendable {
  @usableFromInline let delivery = Delivery<CombinationChange>(isOpen: true)
  private var gate = Subscription.ended
  private(set) var inputs: [Subscription] = []

  /// Set under the lock of the delivery, before a turn comes that asks for it.
  @usableFromInline let hasLastSlots = Atomic(false)

  // Guarded by the lock of the delivery.
  @exclusivity(unchecked) var lastSlots: [LastSlot] = []
  @exclusivity(unchecked) var openCount = 0
  @exclusivity(unchecked) var looks = (begun: 0, done: 0)

  /// The deliverer's own: true if something has changed that has not been told.
  @usableFromInline @exclusivity(unchecked) var isHolding = false

  @usableFromInline
  override init() {}

  /// - Parameters:
  ///   - emit: Tells the subscriber what the cells hold.
  ///   - connect: Subscribes to the inputs.
  @inlinable
  func subscribe(
    _ emit: @escaping @Sendable () -> Void, connect: (CombinationInputs) -> Void
  ) -> Subscription {
    let gate = delivery.subscribe { change in
      if change.apply?() ?? true { emit() }
    }
    let inputs = CombinationInputs(of: self)
    connect(inputs)
    return subscription(gate: gate, inputs: inputs.tokens)
  }

  @usableFromInline
  func subscription(gate: Subscription, inputs: [Subscription]) -> Subscription {
    self.gate = gate
    self.inputs = inputs
    standLast()
    return Subscription(self)
  }

  @inlinable @inline(__always)
  func receive<Value>(
    _ value: Value, into cell: CombinationCell<Value>, _ changeTest: ChangeTest<Value>
  ) {
    let thread = ThreadID.current
    if hasLastSlots.load(ordering: .relaxed) || !delivery.turnstile.enter(as: thread) {
      return receiveUnderLock(value, into: cell, changeTest)
    }
    let turn = delivery.turn(of: thread)
    // Another thread may have found meanwhile that inputs share a source, and hold changes back.
    let isHeld = hasLastSlots.load(ordering: .acquiring) && isMidTurn(on: thread)
    if !turn.extent.isEmpty, isToldNow(cell.change(to: value, changeTest), isHeld: isHeld) {
      delivery.deliver(CombinationChange(), turn)
    }
    delivery.leave(as: thread)
  }

  /// Applies a change as the deliverer, unless it waits in the queue behind others.
  @inlinable @inline(__always)
  func run(_ turn: Turn, _ apply: () -> Bool) {
    if !turn.isForNobody, apply() { delivery.deliver(CombinationChange(), turn) }
    delivery.leave()
  }

  /// Not inlined, so that the way of those who meet nobody, and share nothing, stays short.
  @inlinable @inline(never)
  func receiveUnderLock<Value>(
    _ value: Value, into cell: CombinationCell<Value>, _ changeTest: ChangeTest<Value>
  ) {
    let thread = ThreadID.current
    var isHeld = false
    let turn = delivery.lock.withLock { state in
      isHeld = opensLastSlots(on: thread)
      return delivery.admit(
        CombinationChange { [isHeld] in
          self.isToldNow(cell.change(to: value, changeTest), isHeld: isHeld)
        }, replacing: nil, from: thread, &state)
    }
    guard let turn else { return }
    run(turn) { isToldNow(cell.change(to: value, changeTest), isHeld: isHeld) }
  }

  @inlinable
  func isToldNow(_ isChanged: Bool, isHeld: Bool) -> Bool {
    if isHeld, isChanged { unsafe isHolding = true }
    return isChanged && !isHeld
  }

  override func isSubscribed(_ token: Subscription) -> Bool { gate.isSubscribed }

  override func bufferCounts(of token: Subscription) -> BufferCounts {
    inputs.reduce(BufferCounts(pending: delivery.pendingUpdates)) { $0 + $1.bufferCounts }
  }

  override func tellOrigins(to origins: inout Origins) {
    for input in inputs { input.host.tellOrigins(to: &origins) }
  }

  override func end(_ token: Subscription) {
    gate.invalidate()
    for input in inputs { input.invalidate() }
    leaveLastSlots()
  }

  override func end(_ token: Subscription, for drain: Drain) {
    drain.end(gate)
    for input in inputs { drain.endInput(input) }
    leaveLastSlots()
  }
}

/// The subscriptions of a `Combination`, while they are made.
@usableFromInline
final class CombinationInputs {
  @usableFromInline let combination: Combination
  @usableFromInline let sentinel: Sentinel
  @usableFromInline var tokens: [Subscription] = []

  @inlinable
  init(of combination: Combination) {
    self.combination = combination
    sentinel = Sentinel { combination.end() }
  }

  @inlinable
  func add<Value>(_ input: PublishedValue<Value>, _ cell: CombinationCell<Value>) {
    let changeTest = ChangeTest<Value>()
    let token = input.follow { [combination, sentinel] value in
      withExtendedLifetime(sentinel) { combination.receive(value, into: cell, changeTest) }
    }
    tokens.append(token)
  }
}

/// Tells the subscriber of a combination each result, or each that differs from the one before.
///
/// Unchecked: it is used by the deliverer of a `Combination` only.
@usableFromInline
final class CombinationOutput<Result: Sendable>: @unchecked Sendable {
  @usableFromInline let comparison: Comparison<Result>
  @usableFromInline let receive: @Sendable (Result) -> Void
  @usableFromInline @exclusivity(unchecked) var last: Result?

  @inlinable
  init(_ changeTest: ChangeTest<Result>?, _ receive: @escaping @Sendable (Result) -> Void) {
    comparison = Comparison(changeTest)
    self.receive = receive
  }

  @inlinable @inline(__always)
  func send(_ result: Result) {
    if let last = unsafe last, !comparison.isChange(from: last, to: result) { return }
    unsafe last = result
    receive(result)
  }

  func emitter(_ collect: @escaping @Sendable () -> Result?) -> @Sendable () -> Void {
    { if let result = collect() { self.send(result) } }
  }
}

/// The newest value of one input.
///
/// Unchecked, and without a lock: it is touched by the deliverer of a `Combination` only.
@usableFromInline
final class CombinationCell<Value: Sendable>: @unchecked Sendable {
  @usableFromInline @exclusivity(unchecked) var value: Value?

  @inlinable
  init() {}

  /// - Returns: False if that is the value already.
  @inlinable @inline(__always)
  func change(to next: Value, _ changeTest: ChangeTest<Value>) -> Bool {
    if let last = unsafe value, !changeTest(last, next) { return false }
    unsafe value = next
    return true
  }

  @inlinable
  func read() throws(ValueIsMissing) -> Value {
    guard let value = unsafe value else { throw ValueIsMissing() }
    return value
  }
}

@usableFromInline
struct ValueIsMissing: Error {
  @inlinable init() {}
}
