/// Calls with the current values of all inputs, then whenever one of them changes.
///
/// The first call is made inside `subscribe`, if those of the inputs are. An update in which no
/// element differs from the last one is skipped. Inputs are subscribed to in the order given, and
/// two that change at once make two updates. It ends when all inputs have; of none, after the first
/// call.
///
/// For an input that is a broadcaster, as `filter` gives one, see
/// ``Publisher/publishedValue(initial:)``.
@inlinable
public func combineLatest<each Value: Sendable>(
  _ input: repeat PublishedValue<each Value>
) -> PublishedValue<(repeat each Value)> {
  let difference = elementDifference(repeat Difference<each Value>())
  var lineages: [Lineage] = []
  for input in repeat each input { lineages += input.lineages }
  return Publisher(
    lineage: .ofOperation(on: lineages), present: { try? (repeat (each input).read()) }
  ) { receive in
    let cells = (repeat LatestCell<each Value>())
    let latest = Latest { try? (repeat (each cells).read()) }
    let gate = latest.delivery.subscribe(skippingDuplicates(difference, receive))
    let sentinel = Sentinel { latest.delivery.end() }
    var inputs: [Subscription] = []
    for (input, cell) in repeat (each input, each cells) {
      inputs.append(
        input.startCounted { value in
          withExtendedLifetime(sentinel) { latest.set(cell, to: value) }
        })
    }
    withExtendedLifetime(sentinel) {
      if inputs.isEmpty, let nothing = latest.collect() { latest.delivery.send(nothing) }
    }
    return Subscription(gate: gate, inputs: inputs)
  }
}

/// Calls with a transformation of the current values of all inputs, whenever its result changes.
///
/// Otherwise like ``combineLatest(_:)``.
@inlinable
public func combineLatest<each Value: Sendable, Result: Sendable>(
  _ input: repeat PublishedValue<each Value>,
  transform: @escaping @Sendable (repeat each Value) -> Result
) -> PublishedValue<Result> {
  combineLatest(repeat each input).map { (values: (repeat each Value)) in
    transform(repeat each values)
  }
}

/// Delivers the newest values of all inputs to one subscriber.
@usableFromInline
final class Latest<Values: Sendable>: Sendable {
  @usableFromInline let delivery = Delivery<Values>()
  @usableFromInline let collect: @Sendable () -> Values?

  /// - Parameter collect: Reads all cells, under the lock.
  @inlinable
  init(_ collect: @escaping @Sendable () -> Values?) {
    self.collect = collect
  }

  @inlinable
  func set<Value>(_ cell: LatestCell<Value>, to value: Value) {
    let thread = ThreadID.current
    var replaced: Value? = value
    let admission: (Values, Turn)? = delivery.lock.withLock { state in
      unsafe swap(&cell.value, &replaced)
      guard let values = collect(),
        let turn = delivery.admit(values, replacing: nil, from: thread, &state)
      else { return nil }
      return (values, turn)
    }
    if let (values, turn) = admission {
      delivery.deliver(values, turn)
      delivery.leave()
    }
  }
}

/// The newest value of one input.
///
/// Unsafe: guarded by the lock of the delivery, or, for a task of `all`, written once before the event
/// that makes it read.
@usableFromInline
final class LatestCell<Value: Sendable>: Sendable {
  @usableFromInline nonisolated(unsafe) var value: Value?

  @inlinable
  init() {}

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

@inlinable
func elementDifference<each Value>(
  _ difference: repeat Difference<each Value>
) -> Difference<(repeat each Value)> {
  Difference { last, next in
    for (difference, last, next) in repeat (each difference, each last, each next) {
      if difference(last, next) { return true }
    }
    return false
  }
}

extension Publisher {
  @inlinable
  func read() throws(ValueIsMissing) -> Update {
    guard let value = present() else { throw ValueIsMissing() }
    return value
  }
}
