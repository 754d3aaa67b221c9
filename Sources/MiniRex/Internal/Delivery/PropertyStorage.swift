/// The value of a `PublishedProperty`.
///
/// Publishers retain it, subscriptions and the delivery do not.
///
/// Unchecked: the lock of the delivery guards everything, except for `value` while one thread has
/// exclusive access.
@usableFromInline
package final class PropertyStorage<Value: Sendable>: VersionedStorage, @unchecked Sendable {
  @usableFromInline let delivery: Delivery<Value>
  @usableFromInline @exclusivity(unchecked) var value: Value
  @usableFromInline @exclusivity(unchecked) var exclusive = ExclusiveAccess()
  @exclusivity(unchecked) private var parked: [Parking] = []

  @inlinable
  init(_ value: Value) {
    delivery = Delivery(skippingDuplicates: ChangeTest())
    unsafe self.value = value
    super.init(PropertyStorage.operations)
  }

  /// Creates a storage that repeats a publisher for computed values.
  init(_ value: Value, repeating origin: UntrackedOrigin) {
    delivery = Delivery(skippingDuplicates: ChangeTest())
    unsafe self.value = value
    super.init(PropertyStorage.operations, repeating: origin)
  }

  @inlinable static var operations: StorageOperations {
    StorageOperations { storage, record in
      let storage = unsafe unsafeDowncast(storage, to: PropertyStorage<Value>.self)
      return storage.isUnchanged(unsafe unsafeDowncast(record, to: TypedValueRecord<Value>.self))
    } subscribe: { storage, inputs, sentinel in
      let storage = unsafe unsafeDowncast(storage, to: PropertyStorage<Value>.self)
      return storage.delivery.subscribe { value in
        withExtendedLifetime(sentinel) {
          let version = unsafe storage.delivery.turnVersion
          inputs.receive(TypedValueRecord(value, of: storage, version: version))
        }
      }
    }
  }

  /// Runs `body` under the lock, when no `modify` is in progress.
  @inlinable @inline(__always)
  func withLock<Result>(_ body: (inout DeliveryState) -> Result) -> Result {
    while true {
      let result: Result? = delivery.lock.withLock { state in
        unsafe exclusive.isFree ? body(&state) : nil
      }
      if let result { return result }
      waitForModifier()
    }
  }

  @usableFromInline
  func waitForModifier() {
    let thread = ThreadID.current
    let parking: Parking? = delivery.lock.withLock { _ in
      switch unsafe exclusive.wait(on: thread) {
      case .free: return nil
      case .own:
        misuse(
          "A PublishedProperty was used inside its own 'modify'. "
            + "Use the 'inout' parameter of the closure, or the property after 'modify' returns.")
      case .others:
        let parking = Parking()
        unsafe parked.append(parking)
        return parking
      }
    }
    parking?.wait()
  }

  @inlinable
  var current: Value {
    withLock { _ in unsafe value }
  }

  /// - Returns: `false` if the update is queued, or has no subscriber.
  @inlinable @inline(__always) @discardableResult
  func set(_ newValue: Value) -> Bool {
    var isDelivered = false
    while !trySet(newValue, &isDelivered) { waitForModifier() }
    return isDelivered
  }

  /// - Returns: `false` if a `modify` is in progress.
  @inlinable @inline(__always)
  func trySet(_ newValue: Value, _ isDelivered: inout Bool) -> Bool {
    let thread = ThreadID.current
    var replaced = newValue
    var turn: Turn?
    var isCounted = false
    let isFree = delivery.lock.withLock { state in
      guard unsafe exclusive.isFree else { return false }
      unsafe swap(&value, &replaced)
      if unsafe isTracked {
        (turn, isCounted) = admitTracked(
          newValue, replacing: replaced, inPlace: false, from: thread, &state)
      } else {
        turn = delivery.admit(newValue, replacing: replaced, from: thread, &state)
      }
      return true
    }
    if let turn {
      delivery.deliver(newValue, replacing: replaced, turn)
      if isCounted { hasDelivered() }
      delivery.leave()
      isDelivered = true
    }
    return isFree
  }

  /// Admits a change on which computed values depend.
  ///
  /// Called under the lock.
  ///
  /// - Returns: The turn that the caller must run, and `true` if it must then call `hasDelivered`.
  @inlinable @inline(never)
  func admitTracked(
    _ update: Value, replacing replaced: Value?, inPlace: Bool, from thread: ThreadID,
    _ state: inout DeliveryState
  ) -> (turn: Turn?, isCounted: Bool) {
    advance(inPlace: inPlace)
    let version = presentVersion
    let (turn, isQueued) = delivery.admit(
      update, replacing: replaced, version, in: nil, from: thread, &state)
    if isQueued { return (turn, false) }
    if turn == nil { hasDelivered() } else { unsafe delivery.turnVersion = version }
    return (turn, turn != nil)
  }

  @usableFromInline
  func hasDelivered() { ChangeClock.hasDelivered() }

  @inlinable @inline(__always)
  func beginModify() {
    let thread = ThreadID.current
    while !delivery.lock.withLock({ _ in unsafe exclusive.enter(on: thread) }) {
      waitForModifier()
    }
  }

  /// - Parameter publishing: `false` if the body reports no change.
  /// - Returns: `false` if the change is queued, or has no subscriber.
  @inlinable @inline(__always)
  func endModify(publishing: Bool) -> Bool {
    let thread = ThreadID.current
    var mustWake = false
    var turn: (Turn, Value)?
    var isCounted = false
    delivery.lock.withLock { state in
      mustWake = unsafe exclusive.leave()
      if !publishing { return }
      let admitted: Turn?
      if unsafe isTracked {
        (admitted, isCounted) = admitTracked(
          unsafe value, replacing: nil, inPlace: true, from: thread, &state)
      } else {
        admitted = delivery.admit(unsafe value, replacing: nil, from: thread, &state)
      }
      if let admitted { turn = (admitted, unsafe value) }
    }
    if mustWake { wake() }
    guard let (turn, update) = turn else { return false }
    delivery.deliver(update, turn)
    if isCounted { hasDelivered() }
    delivery.leave()
    return true
  }

  /// Wakes the waiting threads, which check again.
  @usableFromInline
  func wake() {
    var woken: [Parking] = []
    delivery.lock.withLock { _ in unsafe swap(&woken, &parked) }
    for parking in woken { parking.open() }
  }

  override func presentRecord() -> ValueRecord { record }

  override var source: AnyDelivery? { delivery }

  @inlinable
  func subscribe(_ receive: @escaping @Sendable (Value) -> Void) -> Subscription {
    let thread = ThreadID.current
    let token = Subscription(delivery, place: Subscription.nowhere)
    let (value, call) = withLock { state in
      let value = unsafe self.value
      return (value, delivery.join(token, receive, first: value, from: thread, &state))
    }
    return delivery.makeFirstCall(call, receive, value) ? token : .ended
  }
}
