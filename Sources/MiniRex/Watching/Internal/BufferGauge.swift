internal import Synchronization

/// Reports the length of a buffer to a graph while the subscription of the buffer exists.
final class BufferGauge: Sendable {
  private let counts: @Sendable () -> BufferCounts?
  private let counter: InFlightCounter?
  private let consumer: Lineage

  /// - Parameters:
  ///   - consumer: The operator or the subscription that owns the buffer.
  ///   - counter: The counter of the buffer, if it suspends senders.
  init(
    of consumer: Lineage, _ counter: InFlightCounter?,
    _ counts: @escaping @Sendable () -> BufferCounts?
  ) {
    self.consumer = consumer
    self.counter = counter
    self.counts = counts
    consumer.gauges.withLock { $0[ObjectIdentifier(self)] = WeakGauge(gauge: self) }
  }

  var current: BufferCounts { counts() ?? BufferCounts() }

  /// The duration for which it has had no room.
  var stall: Duration? { counter?.slowSubscriber?.duration }

  deinit {
    consumer.gauges.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(self)) }
  }
}

struct WeakGauge: Sendable {
  weak var gauge: BufferGauge?
}

struct WeakDelivery: Sendable {
  weak var delivery: AnyDelivery?
}

extension Lineage {
  /// The number of updates in its buffers, and of the updates that they have dropped.
  var bufferedCounts: BufferCounts {
    // The last reference to a gauge must not be released under the lock, because its `deinit` takes
    // the lock.
    let gauges = gauges.withLock { $0.values.compactMap(\.gauge) }
    return gauges.reduce(BufferCounts()) { $0 + $1.current }
  }

  /// The duration for which one of its buffers has suspended senders, or `nil`.
  var stall: Duration? {
    let gauges = gauges.withLock { $0.values.compactMap(\.gauge) }
    return gauges.compactMap(\.stall).max()
  }

  /// The number of active subscriptions of a source or a trace.
  var presentSubscriberCount: Int {
    let delivery = role == .source ? waiting.withLock { $0.delivery } : nil
    return delivery?.subscriberCount ?? subscriberCount.load(ordering: .relaxed)
  }

  /// The number of updates of this source that are queued for the delivering thread.
  var undeliveredCount: Int {
    waiting.withLock { $0.delivery }?.pendingUpdates ?? 0
  }
}
