#if NATS
internal import MiniRex
internal import MiniRexNATS

/// Measures the subscriptions of a process between two reports.
struct SubscriptionRates: Sendable {
  /// The maximum number of subscriptions in a report: those with the most drops, the longest queue, or the highest rate.
  static let limit = 8

  private struct Measured {
    let load: LiveGraph.Load
    let rate: Double

    var rank: (Int, Int, Double) { (load.droppedUpdates, load.pendingUpdates, rate) }
  }

  /// The number of updates that were dropped since the first measurement, including in ended subscriptions.
  private(set) var dropCount = 0
  private var counts: [Int: (updates: Int, drops: Int)] = [:]
  private var received: (messages: Int, drops: Int)?
  private var time: ContinuousClock.Instant?
  /// The last subscriptions of the graph, and the time at which they were measured.
  private var last: (reports: [SubscriptionReport], omitted: Int) = ([], 0)
  private var graphTime: ContinuousClock.Instant?

  /// Returns the reports since the last call, and the number of the subscriptions that they omit.
  ///
  /// - Parameter loads: The subscriptions of the graph, or `nil` if they were not measured.
  mutating func measure(
    _ loads: [LiveGraph.Load]?, _ statistics: NATSStatistics, at now: ContinuousClock.Instant
  ) -> (reports: [SubscriptionReport], omitted: Int) {
    let server = SubscriptionReport(
      name: "NATS", rate: rate(statistics.messagesIn, received?.messages, from: time, to: now),
      backlog: 0, drops: statistics.dropped)
    dropCount += statistics.dropped - (received?.drops ?? 0)
    (received, time) = ((statistics.messagesIn, statistics.dropped), now)
    if let loads { last = measure(loads, at: now) }
    return ([server] + last.reports, last.omitted)
  }

  private func rate(
    _ new: Int, _ old: Int?, from start: ContinuousClock.Instant?, to end: ContinuousClock.Instant
  ) -> Double {
    guard let old, let start, start < end else { return 0 }
    let seconds = start.duration(to: end) / .seconds(1)
    return (Double(max(0, new - old)) / seconds * 10).rounded() / 10
  }

  private mutating func measure(
    _ loads: [LiveGraph.Load], at now: ContinuousClock.Instant
  ) -> (reports: [SubscriptionReport], omitted: Int) {
    let all = loads.map { load in
      Measured(
        load: load, rate: rate(load.updateCount, counts[load.id]?.updates, from: graphTime, to: now)
      )
    }.sorted { $0.rank > $1.rank }
    for load in loads { dropCount += max(0, load.droppedUpdates - (counts[load.id]?.drops ?? 0)) }
    counts = Dictionary(
      uniqueKeysWithValues: loads.map { ($0.id, ($0.updateCount, $0.droppedUpdates)) })
    graphTime = now
    let shown = all.prefix(Self.limit).map { measured in
      SubscriptionReport(
        name: shortened(measured.load.name, to: 60),
        place: measured.load.place.map { shortened("\($0)", to: 60) }, rate: measured.rate,
        backlog: measured.load.pendingUpdates, drops: measured.load.droppedUpdates)
    }
    return (shown, all.count - shown.count)
  }
}
#endif
