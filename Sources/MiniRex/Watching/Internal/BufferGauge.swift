/// Reports the length of a buffer to a graph while the subscription of the buffer exists.
final class BufferGauge: Sendable {
  private let counts: @Sendable () -> BufferCounts?
  private let consumer: Lineage

  /// - Parameter consumer: The operator or the subscription that owns the buffer.
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
  /// The number of updates in its buffers.
  var bufferedCount: Int {
    // The last reference to a gauge must not be released under the lock, because its `deinit` takes
    // the lock.
    let gauges = gauges.withLock { $0.values.compactMap(\.gauge) }
    return gauges.reduce(0) { $0 + $1.pending }
  }

  /// The number of updates of this source that are queued for the delivering thread.
  var undeliveredCount: Int {
    waiting.withLock { $0.delivery }?.pendingUpdates ?? 0
  }
}
