/// A write of a batch, independent of the type of its value.
///
/// One thread uses it.
protocol PropertyWrite: AnyObject {
  /// The address of the storage.
  ///
  /// Threads acquire several storages in this order.
  var address: UInt { get }

  /// Acquires exclusive access.
  func begin()

  /// Exchanges the values.
  ///
  /// - Returns: The place of the value in the log of changes, if computed values depend on it.
  func write() -> UInt32?

  /// Ends the exclusive access, and admits the turn.
  ///
  /// - Parameter time: The time of the batch, or 0 if no computed value depends on it.
  func end(_ batch: WriteBatch, at time: UInt)

  /// Wakes the threads that waited for access, and runs the turn if this thread must.
  func deliver(_ batch: WriteBatch)
}

final class TypedPropertyWrite<Value: Sendable>: PropertyWrite {
  let address: UInt
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
    unsafe address = UInt(bitPattern: Unmanaged.passUnretained(storage).toOpaque())
  }

  func begin() { storage.beginModify() }

  func write() -> UInt32? {
    unsafe swap(&storage.value, &replaced)
    return storage.delivery.lock.withLock { _ in
      isTracked = unsafe storage.isTracked
      if !isTracked { return nil }
      storage.beginChange()
      return unsafe storage.place
    }
  }

  func end(_ batch: WriteBatch, at time: UInt) {
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

  func deliver(_ batch: WriteBatch) {
    if let turn {
      batch.deliver { storage.delivery.deliver(value, replacing: replaced, turn) }
    } else {
      lineage?.valueWasNotDelivered(by: storage.delivery)
    }
    if !isQueued { batch.leave() }
    if turn != nil { storage.delivery.leave() }
  }
}
