extension Publisher {
  /// Subscribes an asynchronous callback, which receives one update at a time.
  ///
  /// ```swift
  /// let subscription = thermostat.temperature.subscribe(.bufferingNewest(1)) { temperature in
  ///   await display.show(temperature)
  /// }
  /// ```
  ///
  /// One Swift task calls the callback, in order. It is a loop over `values(_:)` in one line, and
  /// the policy decides about the updates that arrive while the callback runs. Even the first value
  /// of a published value arrives after `subscribe` has returned. Canceling the subscription cancels
  /// the call in progress, and drops the buffered updates. `await` its `invalidateAndWait()` to
  /// continue after that call has returned. Each call has the carried task-local values of the
  /// sender, see ``Context``.
  ///
  /// - Parameters:
  ///   - policy: The updates that the buffer keeps. See ``Subscription/pendingUpdates`` and
  ///     ``Subscription/droppedCount``.
  ///   - receive: The callback. It runs on no actor, unless it belongs to one.
  ///   - onEnd: A closure that runs once, after the callback has returned for the last update. It
  ///     does not run after ``Subscription/invalidate()``.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  public func subscribe(
    _ policy: BufferingPolicy<Kind>, _ receive: @escaping @Sendable (Update) async -> Void,
    onEnd: (@Sendable () -> Void)? = nil, fileID: String = #fileID, line: Int = #line
  ) -> Subscription {
    let calls = CallCounter(dropsOldest: policy.limit.dropsOldest)
    let counted = Publisher<Carried<Update>, Kind>(lineage: lineage, value: .none) { receive in
      connect { update in
        calls.add()
        receive(Carried(update))
        calls.check()
      }
    }
    let updates = counted.values(policy, fileID: fileID, line: line)
    calls.count(in: updates.subscription)
    let loop = PublishedTask<Void, Never> {
      for await update in updates {
        await update.deliverAsync(receive)
        calls.finishOne()
      }
    }
    let ignore: @Sendable (Result<Void, Never>) -> Void = { _ in }
    let input = onEnd.map { loop.follow(ignore, onEnd: $0) } ?? loop.follow(ignore)
    return Subscription(AsyncSubscription(updates.subscription, calls, loop: input))
  }
}
