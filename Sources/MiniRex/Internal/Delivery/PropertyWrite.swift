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
  func write() {}

  /// Ends the exclusive access, and admits the turn.
  func end(_ batch: WriteBatch) {}

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

  override func write() {
    unsafe swap(&storage.value, &replaced)
    storage.delivery.lock.withLock { _ in
      isTracked = unsafe storage.isTracked
      if isTracked { storage.advance(inPlace: false) }
    }
  }

  override func end(_ batch: WriteBatch) {
    let thread = ThreadID.current
    let mustWake = storage.delivery.lock.withLock { state in
      let version = isTracked ? storage.presentVersion : 0
      (turn, isQueued) = storage.delivery.admit(
        value, replacing: replaced, version, in: batch, from: thread, &state)
      if turn != nil, !isQueued { unsafe storage.delivery.turnVersion = version }
      return unsafe storage.exclusive.leave()
    }
    if mustWake { storage.wake() }
  }

  override func deliver(_ batch: WriteBatch) {
    if let turn {
      batch.deliver { storage.delivery.deliver(value, replacing: replaced, turn) }
    } else {
      lineage?.valueWasNotDelivered(by: storage.delivery)
    }
    if !isQueued {
      if isTracked { ChangeClock.hasDelivered() }
      batch.leave()
    }
    if turn != nil { storage.delivery.leave() }
  }
}
