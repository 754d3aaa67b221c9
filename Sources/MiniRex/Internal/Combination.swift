/// A change of an input on its way to the subscriber of a combination.
@usableFromInline
struct CombinationChange: Sendable {
  /// Applies the change, if it had to wait for its turn; false if it turns out to be none.
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
@usableFromInline
final class Combination: Sendable {
  @usableFromInline let delivery = Delivery<CombinationChange>()

  @inlinable
  init() {}

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
    return Subscription(gate: gate, inputs: inputs.tokens)
  }

  @inlinable @inline(__always)
  func receive<Value>(
    _ value: Value, into cell: CombinationCell<Value>, _ changeTest: ChangeTest<Value>
  ) {
    let thread = ThreadID.current
    let turn = delivery.lock.withLock { state in
      delivery.admit(
        CombinationChange { cell.change(to: value, changeTest) }, replacing: nil, from: thread,
        &state)
    }
    guard let turn else { return }
    if cell.change(to: value, changeTest) { delivery.deliver(CombinationChange(), turn) }
    delivery.leave()
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
    sentinel = Sentinel { combination.delivery.end() }
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
