internal import Synchronization

/// The subscriptions of a computed value to the sources that it depends on, at any depth.
///
/// It emits for each turn of a source, after the turn has started, with the values that its
/// subscriptions have delivered. Values that other threads deliver while it runs are folded: the
/// next run has the newest of each source.
///
/// Unchecked: the delivering thread of the combination uses the properties, except for `folded`.
/// `receive` uses only constants.
@usableFromInline
final class LiveInputs: @unchecked Sendable {
  /// The newest value of each source, of the values that other threads have queued.
  private struct Folded {
    private(set) var records: [(record: ValueRecord, entry: EntryID)] = []
    /// The places of records after the first eight, which are searched.
    private var places: [ObjectIdentifier: Int] = [:]
    var batching = DependencyIndex.Batching.none
    /// The carried values of the newest sender.
    var carried: CarriedValues?

    /// Returns the older value of the same source.
    mutating func store(_ record: ValueRecord, at entry: EntryID) -> ValueRecord? {
      if let known = place(of: record.storage) {
        defer { records[known] = (record, entry) }
        return records[known].record
      }
      records.append((record, entry))
      if records.count > 8 { places[ObjectIdentifier(record.storage)] = records.count - 1 }
      return nil
    }

    private func place(of storage: VersionedStorage) -> Int? {
      places[ObjectIdentifier(storage)]
        ?? records.prefix(8).firstIndex { $0.record.storage === storage }
    }
  }

  private let combination = Combination()
  let index: DependencyIndex
  private let session: ReadSession
  private let root: EntryID
  private weak var sentinel: Sentinel?
  /// The version of the result that was emitted last.
  @exclusivity(unchecked) private var emitted: UInt?
  /// `true` if the pass has found a source that a batch has written.
  @exclusivity(unchecked) private var hasFoundBatch = false
  /// The carried values of the newest sender whose change is applied and not emitted, unless its
  /// thread emits.
  @exclusivity(unchecked) private var carried: CarriedValues?
  /// The lock of the combination's delivery guards it and `heldCount`.
  @exclusivity(unchecked) private var folded = Folded()
  /// The number of queued changes of the delivering thread that were held.
  @exclusivity(unchecked) private var heldCount = 0

  @usableFromInline
  init(of node: ComputedNode) {
    index = DependencyIndex()
    session = ReadSession(in: index)
    root = index.value(node)
  }

  /// Emits the present value, and then one value for each turn of a source that changes it.
  @usableFromInline
  func subscribe(_ emit: @escaping @Sendable (ComputedResult) -> Void) -> Subscription {
    combination.subscribe { change in
      if !self.apply(change) { return }
      if unsafe self.carried == nil { return self.emitUpdate(emit) }
      unsafe self.carried.take()?.run { self.emitUpdate(emit) }
    } start: { sentinel in
      self.sentinel = sentinel
      combination.receive(on: .current, nil) { _, _ in CombinationChange() }
    }
  }

  /// Returns `false` if there is nothing to emit yet.
  private func apply(_ change: CombinationChange) -> Bool {
    if change.isFold { return combination.shouldEmit(true, isHeld: !takeFolded()) }
    return change.apply?() ?? true
  }

  private func emitUpdate(_ emit: (ComputedResult) -> Void) {
    let result = update()
    if unsafe emitted == result.version || mustWait() { return }
    unsafe emitted = result.version
    emit(result)
  }

  /// Called in the turn of a source, with the value in delivery.
  @usableFromInline
  func receive(_ record: ValueRecord, at entry: EntryID, in source: AnyDelivery) {
    if source.isFollowed {
      if WriteBatch.current == nil {
        source.defer(combination)
        return receiveLater(record, at: entry)
      }
      // A batch emits at its end, after the values before it.
      source.releaseDeferred(always: true)
    }
    let isImmediate = combination.emitImmediately {
      self.index.apply(record, at: entry, .none)
      if unsafe self.carried != nil { unsafe self.carried = nil }
    }
    if !isImmediate { receiveLater(record, at: entry) }
  }

  private func receiveLater(_ record: ValueRecord, at entry: EntryID) {
    let thread = ThreadID.current
    let batch = WriteBatch.current
    // Released after the lock, like the replaced record.
    var carried = CarriedValues.current
    var replaced: ValueRecord?
    combination.receive(on: thread, batch) { isHeld, isReentrant in
      // The first pass does not wait for a batch.
      let batching: DependencyIndex.Batching =
        batch == nil ? .none : unsafe combination.currentInputs.isEmpty ? .open : .held
      if isReentrant {
        if isHeld { unsafe heldCount += 1 }
        return CombinationChange {
          self.index.apply(record, at: entry, batching)
          let mayEmit = self.mayEmit(afterHeld: isHeld)
          unsafe self.carried = mayEmit ? nil : .current
          return self.combination.shouldEmit(true, isHeld: !mayEmit)
        }
      }
      replaced = unsafe folded.store(record, at: entry)
      unsafe folded.batching = max(folded.batching, batching)
      unsafe swap(&folded.carried, &carried)
      unsafe combination.foldedCount = folded.records.count - 1
      return combination.fold()
    }
    withExtendedLifetime((replaced, carried)) {}
  }

  /// Applies the folded values.
  ///
  /// Called by the delivering thread.
  ///
  /// - Returns: `false` if the values must be held.
  private func takeFolded() -> Bool {
    var taken = Folded()
    // In the same step, because a later write of a batch must not count for these values.
    let mayEmit = combination.delivery.lock.withLock { _ in
      unsafe swap(&folded, &taken)
      unsafe combination.foldedCount = 0
      unsafe combination.isFoldQueued = false
      return unsafe heldCount == 0 && combination.openCount == 0
    }
    for (record, entry) in taken.records {
      index.apply(record, at: entry, taken.batching)
    }
    if !taken.records.isEmpty { unsafe carried = taken.carried }
    return mayEmit
  }

  /// Returns `false` if changes of a batch or of the turn of a barrier may be missing.
  private func mayEmit(afterHeld isHeld: Bool) -> Bool {
    combination.delivery.lock.withLock { _ in
      if isHeld { unsafe heldCount -= 1 }
      if unsafe combination.isHolding && combination.isFoldQueued { return false }
      return unsafe heldCount == 0 && combination.openCount == 0
    }
  }

  private func update() -> ComputedResult {
    var result = index.update(root, in: session, for: self)
    if unsafe emitted == nil {
      // A source may have changed after it was read. The first value belongs to one instant, unless
      // other threads change sources during each of these passes.
      for _ in 0..<3 where index.readMissedSources() {
        result = index.update(root, in: session, for: self)
      }
    }
    followInputs()
    return result
  }

  /// Returns `true` if a batch has written a new source, and its other writes are not delivered.
  ///
  /// The end of the batch emits then.
  private func mustWait() -> Bool {
    if unsafe !hasFoundBatch { return false }
    unsafe hasFoundBatch = false
    let isOpen = combination.delivery.lock.withLock { _ in
      unsafe combination.openCount + combination.closingCount > 0
        || combination.isFoldQueued
    }
    if isOpen { unsafe combination.isHolding = true }
    return isOpen
  }

  private func followInputs() {
    guard let removed = index.takeInputChanges() else { return }
    let inputs = index.currentInputs
    if !combination.replaceInputs(by: inputs, sharing: index.mayShareSources) {
      for input in inputs { input.invalidate() }
    }
    for input in removed { input.invalidate() }
  }

  /// Subscribes to a new source, and reads it.
  ///
  /// After all dependencies have finished, nothing retains the sentinel, and a value is only read.
  func follow(_ storage: VersionedStorage, as entry: EntryID) -> FollowedStorage {
    guard let sentinel else { return FollowedStorage(.ended, storage.presentRecord()) }
    let followed = storage.operations.subscribe(storage, self, sentinel, entry)
    if let batch = followed.batch, combination.hold(for: batch) { unsafe hasFoundBatch = true }
    guard let origin = storage.origin else { return followed }
    origin.join(storage)
    let input = Subscription(UntrackedInput(signal: followed.input, origin))
    return FollowedStorage(input, storage.presentRecord())
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

/// A subscription to the storage of an untracked publisher, which it keeps connected.
private final class UntrackedInput: SubscriptionHost {
  private let signal: Subscription
  private let origin: UntrackedOrigin
  private let hasLeft = Atomic(false)

  init(signal: Subscription, _ origin: UntrackedOrigin) {
    self.signal = signal
    self.origin = origin
  }

  func isSubscribed(_ token: Subscription) -> Bool { signal.isSubscribed }

  func decisive(for token: Subscription) -> Subscription? { signal }

  func collectSources(into sources: inout SharedSources) {
    signal.host.collectSources(into: &sources)
    origin.connection?.host.collectSources(into: &sources)
  }

  func end(_ token: Subscription) {
    signal.invalidate()
    if !hasLeft.exchange(true, ordering: .acquiringAndReleasing) { origin.leave() }
  }
}
