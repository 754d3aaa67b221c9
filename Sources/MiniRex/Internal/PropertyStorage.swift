/// The value of a `PublishedProperty`: publishers keep it, tokens and the delivery do not.
///
/// Unchecked: everything is guarded by the lock of the delivery, except for `value` while a
/// `modifier` is set, which then has it alone.
@usableFromInline
final class PropertyStorage<Value: Sendable>: @unchecked Sendable {
  @usableFromInline let delivery: Delivery<Value>
  @usableFromInline @exclusivity(unchecked) var value: Value
  /// The thread that runs the body of a `modify`.
  @usableFromInline @exclusivity(unchecked) var modifier: ThreadID?
  @exclusivity(unchecked) private var waiting: [Parking] = []

  @inlinable
  init(_ value: Value) {
    delivery = Delivery(skippingDuplicates: ChangeTest())
    unsafe self.value = value
  }

  /// Runs `body` under the lock, once no `modify` has the value.
  @inlinable @inline(__always)
  func withLock<Result>(_ body: (inout DeliveryState) -> Result) -> Result {
    while true {
      let result: Result? = delivery.lock.withLock { state in
        unsafe modifier == nil ? body(&state) : nil
      }
      if let result { return result }
      waitForModifier()
    }
  }

  @usableFromInline
  func waitForModifier() {
    let thread = ThreadID.current
    let parking: Parking? = delivery.lock.withLock { _ in
      guard let modifier = unsafe modifier else { return nil }
      if modifier == thread {
        misuse(
          "A PublishedProperty was used inside its own 'modify'. "
            + "Use the 'inout' value that the closure gets, or do it after 'modify' has returned.")
      }
      let parking = Parking()
      unsafe waiting.append(parking)
      return parking
    }
    parking?.wait()
  }

  @inlinable
  var current: Value {
    withLock { _ in unsafe value }
  }

  /// - Returns: False if it waits, or interests nobody.
  @inlinable @inline(__always) @discardableResult
  func set(_ newValue: Value) -> Bool {
    var isDelivered = false
    while !trySet(newValue, &isDelivered) { waitForModifier() }
    return isDelivered
  }

  /// - Returns: False if a `modify` has the value.
  @inlinable @inline(__always)
  func trySet(_ newValue: Value, _ isDelivered: inout Bool) -> Bool {
    let thread = ThreadID.current
    var replaced = newValue
    var turn: Turn?
    let isFree = delivery.lock.withLock { state in
      guard unsafe modifier == nil else { return false }
      unsafe swap(&value, &replaced)
      turn = delivery.admit(newValue, replacing: replaced, from: thread, &state)
      return true
    }
    if let turn {
      delivery.deliver(newValue, replacing: replaced, turn)
      delivery.leave()
      isDelivered = true
    }
    return isFree
  }

  func beginModify() {
    let thread = ThreadID.current
    withLock { _ in unsafe modifier = thread }
  }

  /// - Parameter publishing: False if the body says that nothing has changed.
  /// - Returns: False if the change waits, or interests nobody.
  func endModify(publishing: Bool) -> Bool {
    let thread = ThreadID.current
    var waiting: [Parking] = []
    let (update, turn) = delivery.lock.withLock { state in
      unsafe modifier = nil
      unsafe swap(&waiting, &self.waiting)
      let update = unsafe value
      let turn =
        publishing ? delivery.admit(update, replacing: nil, from: thread, &state) : nil
      return (update, turn)
    }
    for parking in waiting { parking.open() }
    if let turn {
      delivery.deliver(update, turn)
      delivery.leave()
      return true
    }
    return false
  }

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
