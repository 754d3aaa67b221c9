extension Publisher where Kind: StreamKind {
  /// Combines each update with the result so far, and calls with the new result.
  ///
  /// ```swift
  /// let sums = numbers.publisher.scan(0) { sum, number in sum + number }
  /// let subscription = sums.subscribe { print($0) }
  /// numbers.broadcast(1)  // prints 1
  /// numbers.broadcast(2)  // prints 3
  /// ```
  ///
  /// Every subscriber starts from `initial`, which it is not called with. It gives a broadcaster;
  /// follow it with ``Publisher/publishedValue(initial:)`` to have a current value.
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
