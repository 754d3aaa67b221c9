extension Publisher {
  /// Returns the updates as an async sequence that buffers from this call on.
  ///
  /// ```swift
  /// for await temperature in thermostat.temperature.values(.bufferingNewest(1)) {
  ///   await display.show(temperature)
  /// }
  /// ```
  ///
  /// Each call creates an independent subscription, and starts a task that is not running. When the
  /// source finishes, the loop receives the buffered updates and ends. Canceling the Swift task of
  /// the loop ends a waiting loop immediately, and any other loop at its next iteration. It also
  /// cancels the subscription and discards the buffer. Releasing the sequence and its iterator, or
  /// calling ``PublisherValues/invalidate()``, has the same effect. After a `break`, a sequence in
  /// a variable continues to buffer: invalidate it.
  ///
  /// ```swift
  /// let temperatures = thermostat.temperature.values(.bufferingNewest(100))
  /// for await temperature in temperatures {
  ///   if temperature > 90 { break }
  /// }
  /// temperatures.invalidate()
  /// ```
  ///
  /// The sequence cannot fail.
  ///
  /// The loop stays on its actor. The sender pays for a wake-up only while the loop is waiting.
  @inlinable
  public func values(
    _ policy: BufferingPolicy<Kind>, fileID: String = #fileID, line: Int = #line
  ) -> PublisherValues<Update> {
    PublisherValues(ValuesSubscription(to: self, limit: policy.limit, fileID, line))
  }
}

/// The updates of a publisher for one loop at a time.
///
/// See `values(_:)`.
///
/// A second loop may continue where the first one stopped. Traps if two tasks request updates
/// concurrently: call `values(…)` once per task.
public struct PublisherValues<Update: Sendable>: AsyncSequence, Sendable {
  /// The type of the updates.
  public typealias Element = Update
  /// The failure type.
  ///
  /// A loop needs no `try`.
  public typealias Failure = Never

  @usableFromInline let subscription: ValuesSubscription<Update>

  @inlinable
  init(_ subscription: ValuesSubscription<Update>) {
    self.subscription = subscription
  }

  /// The number of updates queued for the loop.
  ///
  /// An update that was handed to the loop does not count, even if the loop has not resumed yet.
  public var bufferedCount: Int { subscription.buffer.counts.pending }

  /// The number of updates that the policy has dropped.
  ///
  /// Updates discarded by a canceled loop do not count.
  public var droppedCount: Int { subscription.buffer.counts.dropped }

  /// A Boolean value that indicates whether the timeout of its policy has canceled the
  /// subscription.
  ///
  /// See `suspending(_:timeout:clock:)`.
  public var hasTimedOut: Bool { subscription.buffer.counter?.hasTimedOut ?? false }

  /// Cancels the subscription, and discards the buffer.
  ///
  /// It is thread-safe and idempotent, like ``Subscription/invalidate()``. For a loop, it has the
  /// effect of canceling the task: a waiting loop ends immediately, any other loop at its next
  /// iteration. An update that was already handed to a resuming loop still arrives.
  public func invalidate() {
    subscription.invalidate()
  }

  /// Creates an iterator, which retains the subscription.
  @inlinable
  public func makeAsyncIterator() -> Iterator {
    Iterator(subscription)
  }

  /// An iterator over the updates.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline let subscription: ValuesSubscription<Update>

    @inlinable
    init(_ subscription: ValuesSubscription<Update>) {
      self.subscription = subscription
    }

    /// Returns the next update, or `nil` at the end, after the task is canceled, and after the
    /// sequence is invalidated.
    @inlinable @inline(__always)
    public mutating func next() async -> Update? {
      await next(isolation: #isolation)
    }

    /// Returns the next update, or `nil` at the end, after the task is canceled, and after the
    /// sequence is invalidated.
    ///
    /// It stays on the given actor.
    @inlinable @inline(__always)
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Update? {
      switch subscription.takeNext() {
      case .update(let update): update
      case .end: nil
      case .notYet: await subscription.waitForNext(isolation: actor)
      }
    }
  }
}

/// Unavailable: each task creates its own iterator.
@available(*, unavailable)
extension PublisherValues.Iterator: Sendable {}
