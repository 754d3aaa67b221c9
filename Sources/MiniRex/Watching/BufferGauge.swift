/// Tells a graph how many updates wait in a buffer, for as long as that has its subscription.
final class BufferGauge: Sendable {
  private let counts: @Sendable () -> BufferCounts?
  private let consumer: Lineage

  /// - Parameter consumer: What the buffer belongs to: an operator, or a subscription.
  init(of consumer: Lineage, _ counts: @escaping @Sendable () -> BufferCounts?) {
    self.consumer = consumer
    self.counts = counts
    consumer.gauges.withLock { $0[ObjectIdentifier(self)] = WeakGauge(gauge: self) }
  }

  var pending: Int { counts()?.pending ?? 0 }

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
  /// How many updates wait in its buffers now.
  var bufferedCount: Int {
    // The last reference to one must not go under the lock, which it takes when it goes.
    let gauges = gauges.withLock { $0.values.compactMap(\.gauge) }
    return gauges.reduce(0) { $0 + $1.pending }
  }

  /// How many updates wait now for the thread that delivers those of this source.
  var undeliveredCount: Int {
    waiting.withLock { $0.delivery }?.pendingUpdates ?? 0
  }
}
