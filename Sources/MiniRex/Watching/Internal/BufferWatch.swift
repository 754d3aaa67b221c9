/// Reports the length and the drops of a subscription's buffer to an instrument.
@usableFromInline
struct BufferWatch: Sendable {
  private struct Told: Sendable {
    var droppedCount = 0
    var backlog: BacklogThreshold
  }

  private let source: Lineage
  private let operation: String
  private let subscription: WatchContext?
  private let consumer: Lineage?
  private let told: SerialState<Told>
  private var gauge: BufferGauge?

  /// Creates a watch for a new subscription to a publisher with this lineage, if an instrument
  /// observes it.
  ///
  /// - Parameter function: The value of `#function` of the operator or the form of `subscribe`.
  @usableFromInline
  init?(_ lineage: Lineage?, of function: String) {
    guard let lineage else { return nil }
    operation = String(function.prefix { $0 != "(" })
    source = lineage.origin
    subscription = .current
    consumer = subscription?.consumer(of: lineage)
    told = SerialState(Told(backlog: BacklogThreshold(limit: lineage.instrument.backlogLimit)))
  }

  /// Creates a watch whose counts a graph can read.
  @usableFromInline
  func measuring(
    _ counter: InFlightCounter?, _ counts: @escaping @Sendable () -> BufferCounts?
  ) -> BufferWatch {
    var measuring = self
    measuring.gauge = consumer.map { BufferGauge(of: $0, counter, counts) }
    return measuring
  }

  /// Checks the counts after an update of this subscription has arrived.
  @usableFromInline
  func look(_ counts: BufferCounts) {
    let news = unsafe counts.dropped - told.value.droppedCount
    unsafe told.value.droppedCount = counts.dropped
    if news > 0 { source.record(.dropped(news), by: subscription, in: operation) }
    if unsafe told.value.backlog.mustTell(counts.pending) {
      source.record(.backlog(counts.pending), by: subscription, in: operation)
    }
  }
}

/// Selects the lengths of a queue that are reported: the limit, then each doubling.
///
/// A queue at its limit is reported once, until half of it is empty.
struct BacklogThreshold: Sendable {
  private let limit: Int
  private var threshold: Int

  init(limit: Int) {
    self.limit = max(1, limit)
    threshold = self.limit
  }

  mutating func mustTell(_ depth: Int) -> Bool {
    if depth <= limit / 2 { threshold = limit }
    if depth < threshold { return false }
    threshold = max(2 * threshold, depth)
    return true
  }
}
