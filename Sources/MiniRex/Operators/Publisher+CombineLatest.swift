/// Emits the current values of all inputs, then again after each change of an input.
///
/// ```swift
/// let size = combineLatest(width.publisher, height.publisher)
/// let subscription = size.subscribe { print("\($0) × \($1)") }  // prints 2 × 3
/// width.value = 4  // prints 4 × 3
/// ```
///
/// The first value is emitted inside `subscribe`, if the inputs emit theirs there. An update that
/// equals the last one is skipped. Inputs are subscribed in the given order. The combination is
/// glitch-free: inputs derived from one source update together, at the cost of one further
/// subscription to that source. Changes of different sources make separate updates. It finishes
/// when all inputs have finished, and without inputs after the first value. Two to eight inputs are
/// faster than more.
///
/// For an input that is a broadcaster, such as the result of `filter`, see
/// ``Publisher/publishedValue(initial:)``.
public func combineLatest<each Value: Sendable>(
  _ input: repeat PublishedValue<each Value>
) -> PublishedValue<(repeat each Value)> {
  var lineages: [Lineage] = []
  for input in repeat each input { lineages += input.lineages }
  return Publisher(
    lineage: .ofOperation(on: lineages),
    value: .derived { session in try? (repeat (each input).value(in: session)) }
  ) { receive in
    let cells = (repeat emptyCell(for: (each Value).self))
    let emit = CombinationOutput(nil, receive).emitter { try? (repeat (each cells).read()) }
    return Combination().subscribe(emit) { inputs in
      for (input, cell) in repeat (each input, each cells) { inputs.add(input, cell) }
      if inputs.tokens.isEmpty { emit() }
    }
  }
}

/// Emits a transformation of the current values of all inputs, whenever its result changes.
///
/// ```swift
/// let area = combineLatest(width.publisher, height.publisher) { $0 * $1 }
/// ```
///
/// ![combineLatest emits the current values of all inputs, and finishes with the last of
/// them](combineLatest.svg)
///
/// ![combineLatest of a diamond emits once, when both inputs have
/// changed](combineLatest-diamond.svg)
///
/// See the overload without a transformation.
public func combineLatest<each Value: Sendable, Result: Sendable>(
  _ input: repeat PublishedValue<each Value>,
  transform: @escaping @Sendable (repeat each Value) -> Result
) -> PublishedValue<Result> {
  combineLatest(repeat each input).map { (values: (repeat each Value)) in
    transform(repeat each values)
  }
}

extension Publisher where Kind == PublishedValueKind {
  /// Emits the current values of this published value and another, then again after each change.
  ///
  /// The method form of the function `combineLatest`.
  public func combineLatest<Other: Sendable>(
    _ other: PublishedValue<Other>
  ) -> PublishedValue<(Update, Other)> {
    MiniRex.combineLatest(self, other)
  }

  /// Emits the current values of this published value and others, then again after each change.
  ///
  /// The method form of the function `combineLatest`.
  public func combineLatest<each Other: Sendable>(
    _ other: repeat PublishedValue<each Other>
  ) -> PublishedValue<(Update, repeat each Other)> {
    MiniRex.combineLatest(self, repeat each other)
  }

  /// Emits a transformation of the current values of this published value and another, whenever its
  /// result changes.
  ///
  /// The method form of the function `combineLatest`.
  public func combineLatest<Other: Sendable, Result: Sendable>(
    _ other: PublishedValue<Other>,
    transform: @escaping @Sendable (Update, Other) -> Result
  ) -> PublishedValue<Result> {
    MiniRex.combineLatest(self, other, transform: transform)
  }

  /// Emits a transformation of the current values of this published value and others, whenever its
  /// result changes.
  ///
  /// The method form of the function `combineLatest`.
  public func combineLatest<each Other: Sendable, Result: Sendable>(
    _ other: repeat PublishedValue<each Other>,
    transform: @escaping @Sendable (Update, repeat each Other) -> Result
  ) -> PublishedValue<Result> {
    MiniRex.combineLatest(self, repeat each other, transform: transform)
  }
}

extension Publisher {
  func value(in session: ReadSession?) throws(ValueIsMissing) -> Update {
    guard let value = read(in: session) else { throw ValueIsMissing() }
    return value
  }
}
