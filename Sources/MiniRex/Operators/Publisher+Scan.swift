extension Publisher where Kind: StreamKind {
  /// Combines each update with the previous result, and emits the new result.
  ///
  /// ```swift
  /// let sums = numbers.publisher.scan(0) { sum, number in sum + number }
  /// let subscription = sums.subscribe { print($0) }
  /// numbers.broadcast(1)  // prints 1
  /// numbers.broadcast(2)  // prints 3
  /// ```
  ///
  /// ![scan accumulates from its initial result, and does not emit it](scan.svg)
  ///
  /// Each subscriber starts from `initial`, which is not emitted. The result is a broadcaster. For
  /// a current value, append ``Publisher/publishedValue(initial:)``.
  @inlinable
  public func scan<Result: Sendable>(
    _ initial: Result, _ next: @escaping @Sendable (_ result: Result, _ update: Update) -> Result
  ) -> Broadcaster<Result> {
    Broadcaster(trusting: self) { receive in
      let result = SerialState(initial)
      return connect { update in
        let next = unsafe next(result.value, update)
        unsafe result.value = next
        receive(next)
      }
    }
  }
}
