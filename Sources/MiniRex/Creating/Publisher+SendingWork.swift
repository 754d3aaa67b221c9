extension Publisher where Kind == BroadcasterKind {
  /// Creates a broadcaster from an async function that sends updates.
  ///
  /// ```swift
  /// let rows = Broadcaster<Int> { send in
  ///   while let row = await cursor.next() { try await send(row) }
  /// }
  /// ```
  ///
  /// Each subscriber starts a separate run, in a Swift task that is canceled with the subscription.
  /// `share()` makes it one run for all. `send` suspends while a suspending subscriber is full, from
  /// the first update on, see ``BroadcastSource/send(_:)-777au``. It throws a `CancellationError` after
  /// the cancellation. The publisher finishes when the function returns or throws. The error is not
  /// emitted. To wait until canceled work has returned, see `invalidateAndWait()`.
  ///
  /// The compiler selects it by the `try await` in the closure. Without one, the closure receives
  /// `receive`, and returns a subscription.
  ///
  /// - Parameter work: A closure that runs once per subscriber. It may call `send` from several
  ///   tasks, and one of them at a time delivers.
  public init(
    _ work:
      @escaping @Sendable (
        _ send: @escaping @Sendable (Update) async throws(CancellationError) -> Void
      ) async throws -> Void
  ) {
    self.init(watchedBy: nil, sending: work)
  }

  /// Creates a broadcaster from an async function.
  ///
  /// An instrument sees it as a source if it has a lineage.
  init(
    watchedBy lineage: Lineage?,
    sending work:
      @escaping @Sendable (
        _ send: @escaping @Sendable (Update) async throws(CancellationError) -> Void
      ) async throws -> Void
  ) {
    self.init(watchedBy: lineage, value: .none) { receive in
      let source = BroadcastSource<Update>(lineage: nil)
      let token = source.publisher.subscribe(receive)
      let valve = SendValve.ofConnection()
      let run = WorkHandle.run(waitingAt: valve) {
        // The error is not emitted.
        try? await work { update throws(CancellationError) in
          try await valve.send(update, to: source)
        }
      } finish: { _ in
        source.end()
      }
      return Subscription(gate: token, inputs: [run])
    }
  }
}
