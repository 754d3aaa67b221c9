extension BroadcastSource {
  /// Sends an update to each subscriber, and suspends while a suspending subscriber is full.
  ///
  /// ```swift
  /// for line in input { try await lines.send(line) }
  /// ```
  ///
  /// A suspending subscriber uses `suspending(_:)`. When its updates in flight reach its limit,
  /// `send` suspends until they are half of the limit. Suspended senders continue in FIFO order, one
  /// at a time. `send` returns after the update is delivered, even if another thread delivers it. This
  /// also holds without a suspending subscriber. It stays on the caller's actor. No thread blocks.
  /// Subscribers with other policies never suspend it. For a loop of the same task, and for a loop
  /// whose task is suspended for this one, it does not suspend: the update exceeds the limit.
  ///
  /// It throws a `CancellationError`, and sends nothing, if the task is canceled before or during
  /// the suspension, or if the source has finished. For a last message of a canceled task, call
  /// ``broadcast(_:)``.
  @inlinable @inline(__always)
  public func send(_ update: Update) async throws(CancellationError) {
    if sendImmediately(update) { return }
    guard await sendLater(update) else { throw CancellationError() }
  }

  /// Sends the update, unless the sender has to wait or to throw.
  ///
  /// Separate from `sendLater`, because each suspension point makes an asynchronous function
  /// slower.
  @inlinable @inline(__always)
  func sendImmediately(_ update: Update) -> Bool {
    if Task.isCancelled { return false }
    guard let valve = delivery.valve else { return delivery.deliverImmediately(update) }
    guard valve.enter() else { return false }
    defer { valve.leave() }
    return delivery.deliverImmediately(update)
  }

  /// Sends the update, and suspends for a full subscriber.
  ///
  /// Returns `false` if the caller must throw. It does not throw itself, because each caller would
  /// allocate the storage of an error.
  @inlinable @inline(never)
  func sendLater(_ update: Update) async -> Bool {
    do throws(CancellationError) {
      if let valve = delivery.valve {
        try await valve.send(update, to: self)
      } else {
        if Task.isCancelled { return false }
        try await deliver(update)
      }
      return true
    } catch {
      return false
    }
  }

  /// Delivers the update, or returns when another thread has delivered it.
  @inlinable @inline(__always)
  func deliver(_ update: Update) async throws(CancellationError) {
    switch delivery.sendOrQueue(update) {
    case .delivered: return
    case .queued:
      publisher.lineage?.updateWasNotDelivered(by: delivery)
      await delivery.settled()
    case .notNeeded: publisher.lineage?.updateWasNotDelivered(by: delivery)
    case .refused: throw CancellationError()
    }
  }

  /// Sends an update unless ``send(_:)-777au`` would suspend or throw.
  ///
  /// ```swift
  /// source.offer(line) ? 202 : 503
  /// ```
  ///
  /// It delivers like ``broadcast(_:)``. Threads that offer at the same instant may exceed the
  /// limit of a suspending subscriber by one each.
  ///
  /// - Returns: `false`, without sending, while a suspending subscriber is full or senders are
  ///   suspended, and after the source has finished; otherwise, `true`.
  @inlinable
  public func offer(_ update: Update) -> Bool {
    if let valve = delivery.valve, !valve.admitsOffer { return false }
    switch delivery.sendOrQueue(update) {
    case .delivered: return true
    case .refused: return false
    case .queued, .notNeeded:
      publisher.lineage?.updateWasNotDelivered(by: delivery)
      return true
    }
  }

  /// The subscribers that suspend the senders of this source at the moment, longest stall first.
  ///
  /// O(n log n) in the number of suspending subscribers.
  public var slowSubscribers: [SlowSubscriber] {
    (delivery.valve?.slowSubscribers ?? []).sorted { $0.duration > $1.duration }
  }
}

extension BroadcastSource {
  /// Deprecated; use ``broadcast(_:)``.
  ///
  /// The compiler selects it in synchronous code. In asynchronous code, `send` suspends for slow
  /// subscribers. It is deprecated rather than unavailable, because the compiler would prefer the
  /// asynchronous method to an unavailable method, and would not name the remedy.
  @available(*, deprecated, renamed: "broadcast(_:)")
  public func send(_ update: Update) { broadcast(update) }
}
