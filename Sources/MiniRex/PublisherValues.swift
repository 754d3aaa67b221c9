extension Publisher {
  /// The updates as a sequence, buffered from this call on.
  ///
  /// ```swift
  /// for await temperature in thermostat.temperature.values(.bufferingNewest(1)) {
  ///   await display.show(temperature)
  /// }
  /// ```
  ///
  /// Every call is a subscription of its own, and starts a task that has not started. When the
  /// source ends, the loop gets what waits, and ends. When the Swift task of the loop is cancelled,
  /// the loop ends the next time it asks for an update, or at once if it is waiting; and so does
  /// the subscription, which discards what waits. Dropping the sequence and its iterator does the
  /// same, and so does ``PublisherValues/invalidate()``: a loop that is left by `break` while a
  /// variable holds the sequence buffers on without it.
  ///
  /// ```swift
  /// let temperatures = thermostat.temperature.values(.bufferingNewest(100))
  /// for await temperature in temperatures {
  ///   if temperature > 90 { break }
  /// }
  /// temperatures.invalidate()
  /// ```
  ///
  /// It cannot fail.
  ///
  /// The loop stays on the actor that it is written for. The sender pays for a wake-up only when
  /// the loop is waiting.
  @inlinable
  public func values(
    _ policy: BufferingPolicy<Kind>, fileID: String = #fileID, line: Int = #line
  ) -> PublisherValues<Update> {
    PublisherValues(ValuesSubscription(to: self, limit: policy.limit, fileID, line))
  }
}

/// The updates of a publisher for one loop at a time; see `values(_:)`.
///
/// A second loop may go on where the first one has stopped. Two tasks that ask for updates at the
/// same time stop the program: call `values(…)` for each of them.
public struct PublisherValues<Update: Sendable>: AsyncSequence, Sendable {
  /// What the loop gets.
  public typealias Element = Update
  /// A loop over it needs no `try`.
  public typealias Failure = Never

  @usableFromInline let subscription: ValuesSubscription<Update>

  @inlinable
  init(_ subscription: ValuesSubscription<Update>) {
    self.subscription = subscription
  }

  /// How many updates wait for the loop.
  ///
  /// One that the loop has been given is not among them, even if it has not woken up yet.
  public var bufferedCount: Int { subscription.buffer.counts.pending }

  /// How many updates the policy has dropped; not those that a cancelled loop has discarded.
  public var droppedCount: Int { subscription.buffer.counts.dropped }

  /// Ends the subscription: nothing is buffered any more, and what waits is discarded.
  ///
  /// It may be called on any thread, like ``Subscription/invalidate()``, and does to a loop what
  /// cancelling its task does: a loop that waits ends at once, and any other the next time it asks.
  /// It gets nothing more but an update that it has been given already and not woken up for. Ending
  /// twice does nothing.
  public func invalidate() {
    subscription.invalidate()
  }

  /// Takes the updates; it keeps the subscription, like the sequence.
  @inlinable
  public func makeAsyncIterator() -> Iterator {
    Iterator(subscription)
  }

  /// Takes the updates one by one.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline let subscription: ValuesSubscription<Update>

    @inlinable
    init(_ subscription: ValuesSubscription<Update>) {
      self.subscription = subscription
    }

    /// The next update, as soon as there is one; `nil` at the end, and once the task is cancelled
    /// or the sequence invalidated.
    @inlinable @inline(__always)
    public mutating func next() async -> Update? {
      await next(isolation: #isolation)
    }

    /// The next update, as soon as there is one; `nil` at the end, and once the task is cancelled
    /// or the sequence invalidated.
    ///
    /// It does not leave the actor.
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

/// Each task makes its own.
@available(*, unavailable)
extension PublisherValues.Iterator: Sendable {}
