/// Calls with the current values of all inputs, then whenever one of them changes.
///
/// ```swift
/// let size = combineLatest(width.publisher, height.publisher)
/// let subscription = size.subscribe { print("\($0) × \($1)") }  // prints 2 × 3
/// width.value = 4  // prints 4 × 3
/// ```
///
/// The first call is made inside `subscribe`, if those of the inputs are. An update in which no
/// element differs from the last one is skipped. Inputs are subscribed to in the order given. Those
/// that follow from one source are told together: a change of it is one update, told when all of
/// them have changed, which takes one more subscription to that source. Two that change for other
/// reasons make two updates. It ends when all inputs have; of none, after the first call. Of two to
/// eight inputs it is faster than of more.
///
/// For an input that is a broadcaster, as `filter` gives one, see
/// ``Publisher/publishedValue(initial:)``.
public func combineLatest<each Value: Sendable>(
  _ input: repeat PublishedValue<each Value>
) -> PublishedValue<(repeat each Value)> {
  var lineages: [Lineage] = []
  for input in repeat each input { lineages += input.lineages }
  return Publisher(
    lineage: .ofOperation(on: lineages), current: { try? (repeat (each input).read()) }
  ) { receive in
    let cells = (repeat CombinationCell<each Value>())
    let emit = CombinationOutput(nil, receive).emitter { try? (repeat (each cells).read()) }
    return Combination().subscribe(emit) { inputs in
      for (input, cell) in repeat (each input, each cells) { inputs.add(input, cell) }
      if inputs.tokens.isEmpty { emit() }
    }
  }
}

/// Calls with a transformation of the current values of all inputs, whenever its result changes.
///
/// ```swift
/// let area = combineLatest(width.publisher, height.publisher) { $0 * $1 }
/// ```
///
/// Otherwise it is like the form without a transformation.
public func combineLatest<each Value: Sendable, Result: Sendable>(
  _ input: repeat PublishedValue<each Value>,
  transform: @escaping @Sendable (repeat each Value) -> Result
) -> PublishedValue<Result> {
  combineLatest(repeat each input).map { (values: (repeat each Value)) in
    transform(repeat each values)
  }
}

extension Publisher {
  func read() throws(ValueIsMissing) -> Update {
    guard let value = readCurrent() else { throw ValueIsMissing() }
    return value
  }
}
