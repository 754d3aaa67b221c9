public import Synchronization

/// A change of an input on its way to the subscriber of a combination.
@usableFromInline
struct CombinationChange: Sendable {
  /// Applies a queued change.
  ///
  /// Returns `false` if there is nothing to emit.
  @usableFromInline let apply: (@Sendable () -> Bool)?
  /// `true` if the subscriber applies all changes that other threads have queued.
  @usableFromInline let isFold: Bool

  @inlinable
  init(_ apply: (@Sendable () -> Bool)? = nil, isFold: Bool = false) {
    self.apply = apply
    self.isFold = isFold
  }
}

/// Orders the changes of several inputs for one subscriber.
///
/// A change that arrives while no thread delivers is applied to its cell by its own thread, as the
/// delivering thread. Otherwise it is queued. The cells therefore need no lock.
///
/// A source that several inputs share emits their changes one after the other. From the first of
/// them until the turn reaches the barrier of the combination, changes are held, and then emitted
/// together.
///
/// Unchecked, because its delivery guards it: each property that changes after the connection states
/// its guard.
@usableFromInline
final class Combination: SubscriptionHost, @unchecked Sendable {
  @usableFromInline let delivery = Delivery<CombinationChange>(isOpen: true)
  private var gate = Subscription.ended
  /// The combinations that depend on the inputs, if the inputs may change.
  private var dependents: SwitchedInputs?

  /// `true` if changes may have to be held, for a barrier or for a batch.
  ///
  /// Written under the lock of the delivery, before a turn needs it.
  @usableFromInline let mayHold = Atomic(false)

  // Guarded by the lock of the delivery.
  @exclusivity(unchecked) private(set) var currentInputs: [Subscription] = []
  @exclusivity(unchecked) var barriers: [GlitchBarrier] = []
  @exclusivity(unchecked) var openCount = 0
  @exclusivity(unchecked) var looks = (begun: 0, done: 0)
  /// The number of queued updates that emit held changes.
  @exclusivity(unchecked) var closingCount = 0
  /// The number of changes in the folded update in the queue, without its first change.
  @exclusivity(unchecked) var foldedCount = 0
  /// `true` if one update applies all changes that other threads have queued.
  @exclusivity(unchecked) var folds = false
  @exclusivity(unchecked) var isFoldQueued = false
  /// The number of replacements of the inputs, and the last of them whose sources know this queue.
  @exclusivity(unchecked) var knownInputs = (present: 1, toSources: 0)
  /// The reference of the sources to this queue.
  @exclusivity(unchecked) var follower: QueueFollower?

  /// Used by the delivering thread only.
  ///
  /// `true` if a change has not been emitted.
  @usableFromInline @exclusivity(unchecked) var isHolding = false

  @usableFromInline
  init() {}

  /// - Parameters:
  ///   - emit: A closure that emits the contents of the cells to the subscriber.
  ///   - connect: A closure that subscribes to the inputs.
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
    replaceInputs(by: inputs, sharing: inputs.count > 1)
    return Subscription(self)
  }

  /// Subscribes to inputs that `emit` replaces.
  ///
  /// - Parameters:
  ///   - emit: A closure that applies a change and emits.
  ///   - start: A closure that emits for the first time, and keeps the sentinel in the callbacks of
  ///     the inputs.
  func subscribe(
    _ emit: @escaping @Sendable (CombinationChange) -> Void, start: (Sentinel) -> Void
  ) -> Subscription {
    dependents = SwitchedInputs()
    unsafe folds = true
    gate = delivery.subscribe(emit)
    let sentinel = Sentinel { self.end() }
    start(sentinel)
    return withExtendedLifetime(sentinel) { Subscription(self) }
  }

  /// Applies a change and emits, unless a thread is delivering, or the change may have to be held.
  func emitImmediately(_ apply: () -> Void) -> Bool {
    let thread = ThreadID.current
    if mayHold.load(ordering: .relaxed) || WriteBatch.current != nil
      || !delivery.turnstile.enter(as: thread)
    {
      return false
    }
    let turn = delivery.turn(of: thread)
    let isHeld = mayHold.load(ordering: .acquiring) && isMidTurn(on: thread)
    if !turn.extent.isEmpty {
      apply()
      if shouldEmit(true, isHeld: isHeld) { delivery.deliver(CombinationChange(), turn) }
    }
    delivery.leave(as: thread)
    return true
  }

  /// Emits a change as the delivering thread, or queues it.
  ///
  /// - Parameter change: A closure that is called under the lock. It returns `nil` if a queued change
  ///   applies the new change. Its second parameter is `true` if this thread delivers.
  func receive(
    on thread: ThreadID, _ batch: WriteBatch?,
    _ change: (_ isHeld: Bool, _ isReentrant: Bool) -> CombinationChange?
  ) {
    var received: CombinationChange?
    var isKnown = false
    let turn = delivery.lock.withLock { state -> Turn? in
      let isHeld = opensBarriers(on: thread, batch)
      isKnown = unsafe knownInputs.present == knownInputs.toSources
      let isReentrant = delivery.isDelivering(on: thread, state)
      guard let next = change(isHeld, isReentrant) else { return nil }
      received = next
      return delivery.admit(next, replacing: nil, from: thread, &state)
    }
    if let turn, let received { return run(turn, received) }
    if !isKnown { meetSources() }
  }

  /// Returns the update that applies the changes of other threads, unless it is in the queue.
  ///
  /// Called under the lock.
  func fold() -> CombinationChange? {
    if unsafe isFoldQueued { return nil }
    unsafe isFoldQueued = true
    return CombinationChange(isFold: true)
  }

  var inputs: [Subscription] { delivery.lock.withLock { _ in unsafe currentInputs } }

  /// Replaces the inputs.
  ///
  /// - Parameter sharing: `false` if no two inputs can share a source.
  /// - Returns: `false` if the subscription has ended, so the caller must cancel the inputs.
  @discardableResult
  func replaceInputs(by inputs: [Subscription], sharing: Bool) -> Bool {
    var replaced = inputs
    let isActive = delivery.lock.withLock { state in
      if state.table.count == 0 || state.schedule.hasEnded, dependents != nil { return false }
      unsafe swap(&currentInputs, &replaced)
      unsafe knownInputs.present += 1
      return true
    }
    if isActive {
      if sharing || mayHold.load(ordering: .acquiring) { installBarriers() }
      dependents?.haveMoved()
    }
    return isActive
  }

  @inlinable @inline(__always)
  func receive<Value>(
    _ value: Value, into cell: CombinationCell<Value>, _ changeTest: ChangeTest<Value>
  ) {
    let thread = ThreadID.current
    if mayHold.load(ordering: .relaxed) || WriteBatch.isDeliveringHere
      || !delivery.turnstile.enter(as: thread)
    {
      return receiveUnderLock(value, into: cell, changeTest)
    }
    let turn = delivery.turn(of: thread)
    // Another thread may have found concurrently that inputs share a source, and may hold changes.
    let isHeld = mayHold.load(ordering: .acquiring) && isMidTurn(on: thread)
    if !turn.extent.isEmpty, shouldEmit(cell.change(to: value, changeTest), isHeld: isHeld) {
      delivery.deliver(CombinationChange(), turn)
    }
    delivery.leave(as: thread)
  }

  /// Applies a change as the delivering thread, or queues it.
  @inlinable @inline(__always)
  func run(_ turn: Turn, _ apply: () -> Bool) {
    if !turn.isForNobody, apply() { delivery.deliver(CombinationChange(), turn) }
    delivery.leave()
  }

  /// Emits a change that the callback of the gate applies.
  func run(_ turn: Turn, _ change: CombinationChange) {
    if !turn.isForNobody { delivery.deliver(change, turn) }
    delivery.leave()
  }

  /// Applies a change of an input under the lock, and emits it or queues it.
  ///
  /// Not inlined, so that the path without contention and without shared sources stays short.
  @inlinable @inline(never)
  func receiveUnderLock<Value>(
    _ value: Value, into cell: CombinationCell<Value>, _ changeTest: ChangeTest<Value>
  ) {
    let thread = ThreadID.current
    var isHeld = false
    let batch = WriteBatch.current
    let turn = delivery.lock.withLock { state in
      isHeld = opensBarriers(on: thread, batch)
      return delivery.admit(
        CombinationChange { [isHeld] in
          self.shouldEmit(cell.change(to: value, changeTest), isHeld: isHeld)
        }, replacing: nil, from: thread, &state)
    }
    guard let turn else { return meetSources() }
    run(turn) { shouldEmit(cell.change(to: value, changeTest), isHeld: isHeld) }
  }

  @inlinable
  func shouldEmit(_ isChanged: Bool, isHeld: Bool) -> Bool {
    if isHeld, isChanged { unsafe isHolding = true }
    return isChanged && !isHeld
  }

  deinit { unsafe follower?.isOver.store(true, ordering: .relaxed) }

  func isSubscribed(_ token: Subscription) -> Bool { gate.isSubscribed }

  func decisive(for token: Subscription) -> Subscription? { gate }

  func bufferCounts(of token: Subscription) -> BufferCounts {
    let pending = delivery.lock.withLock { unsafe $0.tickets.count + foldedCount }
    return inputs.reduce(BufferCounts(pending: pending)) { $0 + $1.bufferCounts }
  }

  func collectDrains(of token: Subscription, into drains: inout [Drain]) {
    for input in inputs { input.host.collectDrains(of: input, into: &drains) }
  }

  func attach(_ counter: InFlightCounter, of token: Subscription) {
    delivery.count(for: counter)
    for input in inputs { input.host.attach(counter, of: input) }
  }

  func collectSources(into sources: inout SharedSources) {
    sources.add(self)
    dependents?.add(sources.combination)
    for input in inputs { input.host.collectSources(into: &sources) }
  }

  func end(_ token: Subscription) {
    gate.invalidate()
    for input in inputs { input.invalidate() }
    leaveBarriers()
  }

  func end(_ token: Subscription, for group: WaitGroup) {
    group.end(gate)
    for input in inputs { group.endInput(input) }
    leaveBarriers()
  }
}
