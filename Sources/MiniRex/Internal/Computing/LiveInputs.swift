internal import Synchronization

/// The subscriptions of a computed value to the sources that it depends on, at any depth.
///
/// Usually, every source is in the state that its last turn has delivered, and the computed value
/// reads the present values. While other turns are in progress, it reads the values that its own
/// subscriptions have delivered. Like a combination, it therefore emits for each turn, after the
/// turn has started.
///
/// Unchecked: the delivering thread of the combination uses the properties. `receive` uses only
/// constants.
@usableFromInline
final class LiveInputs: @unchecked Sendable {
  private let node: ComputedNode
  private let combination = Combination()
  @exclusivity(unchecked) private var last: ComputedResult?
  @exclusivity(unchecked) private var shape: UInt = 0
  private let index: DependencyIndex
  /// `true` if the last result belonged to one instant, at which the index is correct.
  @exclusivity(unchecked) private var isIndexExact = false
  /// The values delivered since the last result.
  @exclusivity(unchecked) private var delivered: [ValueRecord] = []
  /// `true` if the change was neither queued nor held.
  @exclusivity(unchecked) private var isImmediate = false
  private weak var sentinel: Sentinel?

  @usableFromInline
  init(of node: ComputedNode) {
    self.node = node
    index = DependencyIndex(of: node)
  }

  /// Emits the present value, and then one value for each turn of a source that changes it.
  @usableFromInline
  func subscribe(_ emit: @escaping @Sendable (ComputedResult) -> Void) -> Subscription {
    combination.subscribe {
      let result = self.evaluate()
      unsafe self.last = result
      self.follow(result)
      emit(result)
    } start: { sentinel in
      self.sentinel = sentinel
      combination.receive { true }
    }
  }

  /// Called in the turn of a source, with the value in delivery.
  @usableFromInline
  func receive(_ record: ValueRecord) {
    let isImmediate = combination.emitImmediately { isHeld in
      self.apply(record)
      unsafe self.isImmediate = !isHeld
    }
    if isImmediate { return }
    combination.receive {
      self.apply(record)
      unsafe self.isImmediate = false
      return true
    }
  }

  private func apply(_ record: ValueRecord) {
    if index.accepts(record) { unsafe delivered.append(record) }
  }

  private func evaluate() -> ComputedResult {
    let time = ChangeClock.now
    // The only undelivered change is in delivery on this thread, and all others have been applied.
    let isQuiet =
      unsafe ChangeClock.undeliveredCount <= (isImmediate ? 1 : 0) && !combination.hasQueuedChanges
    if unsafe isQuiet || last == nil || pins.areUnchanged {
      let pass = unsafe isQuiet && isIndexExact ? index.pass(for: delivered, at: time) : nil
      let evaluation = node.evaluate(in: nil, pass)
      unsafe isIndexExact = evaluation.isExact && ChangeClock.now == time
      if unsafe last == nil || isIndexExact {
        forgetDelivered()
        return evaluation.result
      }
    }
    unsafe isIndexExact = false
    let result = node.result(fitting: pins)
    forgetDelivered()
    return result
  }

  /// Keeps the capacity, for the next change.
  private func forgetDelivered() {
    while unsafe delivered.popLast() != nil {}
  }

  /// The delivered values of all sources.
  private var pins: PinnedValues {
    let pins = PinnedValues()
    for record in unsafe delivered.reversed() { pins.keep(record) }
    for record in unsafe last?.records ?? [] { pins.keep(record) }
    return pins
  }

  /// Follows the dependencies of the result.
  func follow(_ result: ComputedResult) {
    if unsafe result.shape == shape { return }
    // Without it, all dependencies have finished.
    guard let sentinel else { return }
    unsafe shape = result.shape
    let changes = index.update(to: result) { subscribe(to: $0, sentinel) }
    if changes.areInputsChanged {
      let inputs = index.inputs
      if !combination.replaceInputs(by: inputs, sharing: index.mayShareSources) {
        for input in inputs + changes.removedInputs { input.invalidate() }
        return
      }
    }
    for input in changes.removedInputs { input.invalidate() }
    for storage in changes.missed { receive(storage.presentRecord()) }
  }

  private func subscribe(to storage: VersionedStorage, _ sentinel: Sentinel) -> Subscription {
    let signal = storage.operations.subscribe(storage, self, sentinel)
    guard let origin = storage.origin else { return signal }
    origin.join(storage)
    return Subscription(UntrackedInput(signal: signal, origin))
  }
}

extension ComputedNode {
  /// Subscribes a callback, which receives the present value inside this call, and then changes.
  @inlinable
  func subscribe<Value: Sendable>(
    _ changeTest: ChangeTest<Value>, _ receive: @escaping @Sendable (Value) -> Void
  ) -> Subscription {
    let output = CombinationOutput(changeTest, receive)
    return LiveInputs(of: self).subscribe { output.send($0.value(of: Value.self)) }
  }
}

extension ComputedResult {
  /// The values of properties that the result depends on, at any depth.
  fileprivate var records: [ValueRecord] {
    var records: [ValueRecord] = []
    var known: Set<ObjectIdentifier> = []
    func collect(_ result: ComputedResult) {
      for dependency in result.dependencies {
        switch dependency.content {
        case .value(let record):
          if known.insert(ObjectIdentifier(record.storage)).inserted { records.append(record) }
        case .computed(let node, let result):
          if known.insert(ObjectIdentifier(node)).inserted { collect(result) }
        }
      }
    }
    collect(self)
    return records
  }
}

/// A subscription to the storage of an untracked publisher, which it keeps connected.
///
/// All properties are constant or atomic.
private final class UntrackedInput: SubscriptionHost, @unchecked Sendable {
  private let signal: Subscription
  private let origin: UntrackedOrigin
  private let hasLeft = Atomic(false)

  init(signal: Subscription, _ origin: UntrackedOrigin) {
    self.signal = signal
    self.origin = origin
  }

  override func isSubscribed(_ token: Subscription) -> Bool { signal.isSubscribed }

  override func collectSources(into sources: inout SharedSources) {
    signal.host.collectSources(into: &sources)
    origin.connection?.host.collectSources(into: &sources)
  }

  override func end(_ token: Subscription) {
    signal.invalidate()
    if !hasLeft.exchange(true, ordering: .acquiringAndReleasing) { origin.leave() }
  }
}
