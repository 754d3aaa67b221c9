/// The value of a `PublishedProperty`.
///
/// Publishers retain it, subscriptions and the delivery do not.
///
/// Unchecked: the lock of the delivery guards everything, except for the value while one thread has
/// exclusive access.
@usableFromInline
package final class PropertyStorage<Value: Sendable>: VersionedStorage, @unchecked Sendable {
  @usableFromInline let delivery: Delivery<Value>
  @usableFromInline @exclusivity(unchecked) var held: ChainLink<Value>
  @usableFromInline @exclusivity(unchecked) var exclusive = ExclusiveAccess()
  @safe @exclusivity(unchecked) private var parked = ParkedThreads()

  @inlinable
  init(_ value: Value) {
    delivery = Delivery(skippingDuplicates: ChangeTest())
    unsafe held = ChainLink(value)
    super.init(PropertyStorage.operations)
  }

  /// Creates a storage that repeats a publisher for computed values.
  init(_ value: Value, repeating origin: UntrackedOrigin) {
    delivery = Delivery(skippingDuplicates: ChangeTest())
    unsafe held = ChainLink(value)
    super.init(PropertyStorage.operations, repeating: origin)
  }

  @unsafe @inlinable var value: Value {
    @inline(__always) _read { yield unsafe held.content }
    @inline(__always) _modify { yield unsafe &held.content }
  }

  @inlinable static var operations: StorageOperations {
    StorageOperations { storage, record in
      let storage = unsafe unsafeDowncast(storage, to: PropertyStorage<Value>.self)
      return storage.isUnchanged(unsafe unsafeDowncast(record, to: TypedValueRecord<Value>.self))
    } subscribe: { storage, inputs, sentinel, entry in
      unsafe unsafeDowncast(storage, to: PropertyStorage<Value>.self)
        .follow(inputs, sentinel, entry)
    }
  }

  /// Subscribes the inputs of a computed value to all changes after the returned value.
  @inlinable
  func follow(_ inputs: LiveInputs, _ sentinel: Sentinel, _ entry: EntryID) -> FollowedStorage {
    let token = Subscription(to: delivery)
    let receive: @Sendable (Value) -> Void = { value in
      withExtendedLifetime(sentinel) {
        let version = unsafe self.delivery.turnVersion
        inputs.receive(
          TypedValueRecord(value, of: self, version: version), at: entry, in: self.delivery)
      }
    }
    let (value, version, batch, hasJoined) = withLock { state in
      if unsafe !isTracked { track() }
      return (
        unsafe self.value, presentVersion, unsafe self.batch, delivery.join(token, receive, &state)
      )
    }
    return FollowedStorage(
      hasJoined ? token : .ended, TypedValueRecord(value, of: self, version: version), batch)
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
        return parked.park()
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

  /// Sets the value and delivers it, unless a `modify` has exclusive access.
  ///
  /// - Returns: `false` if a `modify` is in progress.
  @inlinable @inline(__always)
  func trySet(_ newValue: Value, _ isDelivered: inout Bool) -> Bool {
    let thread = ThreadID.current
    var replaced = newValue
    var turn: Turn?
    let isFree = delivery.lock.withLock { state in
      guard unsafe exclusive.isFree else { return false }
      unsafe swap(&value, &replaced)
      if unsafe isTracked {
        turn = admitTracked(newValue, replacing: replaced, inPlace: false, from: thread, &state)
      } else {
        turn = delivery.admit(newValue, replacing: replaced, from: thread, &state)
      }
      return true
    }
    if let turn {
      delivery.deliver(newValue, replacing: replaced, turn)
      delivery.leave()
      isDelivered = true
    }
    return isFree
  }

  /// Gives a change its time, by which computed values find it, and admits its turn.
  ///
  /// A turn that begins immediately emits this version. A queued change has its version in the
  /// queue. Called under the lock.
  @inlinable @inline(never)
  func admitTracked(
    _ update: Value, replacing replaced: Value?, inPlace: Bool, from thread: ThreadID,
    _ state: inout DeliveryState
  ) -> Turn? {
    advance(inPlace: inPlace)
    let version = presentVersion
    let (turn, isQueued) = delivery.admit(
      update, replacing: replaced, version, in: nil, from: thread, &state)
    if turn != nil, !isQueued { unsafe delivery.turnVersion = version }
    return turn
  }

  @inlinable @inline(__always)
  func beginModify() {
    let thread = ThreadID.current
    while !delivery.lock.withLock({ _ in unsafe exclusive.enter(on: thread) }) {
      waitForModifier()
    }
  }

  /// Ends the exclusive access of a `modify`, and delivers the value.
  ///
  /// - Parameter publishing: `false` if the body reports no change.
  /// - Returns: `false` if the change is queued, or has no subscriber.
  @inlinable @inline(__always)
  func endModify(publishing: Bool) -> Bool {
    let thread = ThreadID.current
    var mustWake = false
    var turn: (Turn, Value)?
    delivery.lock.withLock { state in
      mustWake = unsafe exclusive.leave()
      if !publishing { return }
      let admitted: Turn?
      if unsafe isTracked {
        admitted = admitTracked(
          unsafe value, replacing: nil, inPlace: true, from: thread, &state)
      } else {
        admitted = delivery.admit(unsafe value, replacing: nil, from: thread, &state)
      }
      if let admitted { turn = (admitted, unsafe value) }
    }
    if mustWake { wake() }
    guard let (turn, update) = turn else { return false }
    delivery.deliver(update, turn)
    delivery.leave()
    return true
  }

  @usableFromInline
  func wake() {
    delivery.lock.withLock { _ in parked.takeAll() }.wake()
  }

  override func presentRecord() -> ValueRecord { record }

  override var source: AnyDelivery? { delivery }

  @inlinable
  func subscribe(_ receive: @escaping @Sendable (Value) -> Void) -> Subscription {
    let thread = ThreadID.current
    let token = Subscription(to: delivery)
    let (value, call) = withLock { state in
      let value = unsafe self.value
      return (value, delivery.join(token, receive, first: value, from: thread, &state))
    }
    return delivery.makeFirstCall(call, receive, value) ? token : .ended
  }
}
