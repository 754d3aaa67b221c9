/// A change of an input on its way to the subscriber of a combination.
@usableFromInline
struct LatestChange: Sendable {
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
final class Latest: Sendable {
  @usableFromInline let delivery = Delivery<LatestChange>()

  @inlinable
  init() {}

  /// - Parameters:
  ///   - emit: Tells the subscriber what the cells hold.
  ///   - connect: Subscribes to the inputs.
  @inlinable
  func subscribe(
    _ emit: @escaping @Sendable () -> Void, connect: (LatestInputs) -> Void
  ) -> Subscription {
    let gate = delivery.subscribe { change in
      if change.apply?() ?? true { emit() }
    }
    let inputs = LatestInputs(of: self)
    connect(inputs)
    return Subscription(gate: gate, inputs: inputs.tokens)
  }

  @inlinable @inline(__always)
  func receive<Value>(_ value: Value, into cell: LatestCell<Value>, _ difference: Difference<Value>)
  {
    let thread = ThreadID.current
    let turn = delivery.lock.withLock { state in
      delivery.admit(
        LatestChange { cell.change(to: value, difference) }, replacing: nil, from: thread, &state)
    }
    guard let turn else { return }
    if cell.change(to: value, difference) { delivery.deliver(LatestChange(), turn) }
    delivery.leave()
  }
}

/// The subscriptions of a `Latest`, while they are made.
@usableFromInline
final class LatestInputs {
  @usableFromInline let latest: Latest
  @usableFromInline let sentinel: Sentinel
  @usableFromInline var tokens: [Subscription] = []

  @inlinable
  init(of latest: Latest) {
    self.latest = latest
    sentinel = Sentinel { latest.delivery.end() }
  }

  @inlinable
  func add<Value>(_ input: PublishedValue<Value>, _ cell: LatestCell<Value>) {
    let difference = Difference<Value>()
    let token = input.startCounted { [latest, sentinel] value in
      withExtendedLifetime(sentinel) { latest.receive(value, into: cell, difference) }
    }
    tokens.append(token)
  }
}

/// Tells the subscriber of a combination each result, or each that differs from the one before.
///
/// Unchecked: it is used by the deliverer of a `Latest` only.
@usableFromInline
final class LatestOutput<Result: Sendable>: @unchecked Sendable {
  @usableFromInline let comparison: Comparison<Result>
  @usableFromInline let receive: @Sendable (Result) -> Void
  @usableFromInline @exclusivity(unchecked) var last: Result?

  @inlinable
  init(_ difference: Difference<Result>?, _ receive: @escaping @Sendable (Result) -> Void) {
    comparison = Comparison(difference)
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
/// Unchecked, and without a lock: it is touched by the deliverer of a `Latest` only, or, for a task
/// of `all`, written once before the event that makes it read.
@usableFromInline
final class LatestCell<Value: Sendable>: @unchecked Sendable {
  @usableFromInline @exclusivity(unchecked) var value: Value?

  @inlinable
  init() {}

  /// - Returns: False if that is the value already.
  @inlinable @inline(__always)
  func change(to next: Value, _ difference: Difference<Value>) -> Bool {
    if let last = unsafe value, !difference(last, next) { return false }
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
