/// A write of a batch, independent of the type of its value.
///
/// Unchecked, because it has a subclass. One thread uses it.
class PropertyWrite: @unchecked Sendable {
  /// The address of the storage.
  ///
  /// Threads acquire several storages in this order.
  let address: UInt

  init(_ storage: AnyObject) {
    unsafe address = UInt(bitPattern: Unmanaged.passUnretained(storage).toOpaque())
  }

  /// Acquires exclusive access.
  func begin() {}

  /// Exchanges the values.
  ///
  /// - Returns: The place of the value in the log of changes, if computed values depend on it.
  func write() -> UInt32? { nil }

  /// Ends the exclusive access, and admits the turn.
  ///
  /// - Parameter time: The time of the batch, or 0 if no computed value depends on it.
  func end(_ batch: WriteBatch, at time: UInt) {}

  /// Wakes the threads that waited for access, and runs the turn if this thread must.
  func deliver(_ batch: WriteBatch) {}
}

/// Unchecked like its superclass.
final class TypedPropertyWrite<Value: Sendable>: PropertyWrite, @unchecked Sendable {
  private let storage: PropertyStorage<Value>
  private let lineage: Lineage?
  /// The new value, then the old one.
  private var replaced: Value
  private let value: Value
  private var turn: Turn?
  private var isQueued = false
  private var isTracked = false

  init(_ value: Value, to property: PublishedProperty<Value>) {
    storage = property.storage
    lineage = property.publisher.lineage
    self.value = value
    replaced = value
    super.init(storage)
  }

  override func begin() { storage.beginModify() }

  override func write() -> UInt32? {
    unsafe swap(&storage.value, &replaced)
    return storage.delivery.lock.withLock { _ in
      isTracked = unsafe storage.isTracked
      if !isTracked { return nil }
      storage.beginChange()
      return unsafe storage.place
    }
  }

  override func end(_ batch: WriteBatch, at time: UInt) {
    let thread = ThreadID.current
    var old: WriteBatch?
    let mustWake = storage.delivery.lock.withLock { state in
      if isTracked { storage.endChange(at: time, inPlace: false) }
      old = unsafe storage.batch
      unsafe storage.batch = batch
      (turn, isQueued) = storage.delivery.admit(
        value, replacing: replaced, isTracked ? time : 0, in: batch, from: thread, &state)
      if turn != nil, !isQueued { unsafe storage.delivery.turnVersion = isTracked ? time : 0 }
      return unsafe storage.exclusive.leave()
    }
    withExtendedLifetime(old) {}
    if mustWake { storage.wake() }
  }

  override func deliver(_ batch: WriteBatch) {
    if let turn {
      batch.deliver { storage.delivery.deliver(value, replacing: replaced, turn) }
    } else {
      lineage?.valueWasNotDelivered(by: storage.delivery)
    }
    if !isQueued { batch.leave() }
    if turn != nil { storage.delivery.leave() }
  }
}
