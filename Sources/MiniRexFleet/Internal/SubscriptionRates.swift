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

  private var counts: [Int: Int] = [:]
  private var messages: Int?
  private var time: ContinuousClock.Instant?

  /// Returns the reports since the last call, and the number of the subscriptions that they omit.
  mutating func measure(
    _ loads: [LiveGraph.Load], _ statistics: NATSStatistics, at now: ContinuousClock.Instant
  ) -> (reports: [SubscriptionReport], omitted: Int) {
    let seconds = time.map { $0.duration(to: now) / .seconds(1) }
    func rate(_ new: Int, _ old: Int?) -> Double {
      guard let old, let seconds, seconds > 0 else { return 0 }
      return (Double(max(0, new - old)) / seconds * 10).rounded() / 10
    }
    let all = loads.map { Measured(load: $0, rate: rate($0.updateCount, counts[$0.id])) }
      .sorted { $0.rank > $1.rank }
    let server = SubscriptionReport(
      name: "NATS", rate: rate(statistics.messagesIn, messages), backlog: 0,
      drops: statistics.dropped)
    counts = Dictionary(uniqueKeysWithValues: loads.map { ($0.id, $0.updateCount) })
    (messages, time) = (statistics.messagesIn, now)
    let shown = all.prefix(Self.limit).map { measured in
      SubscriptionReport(
        name: shortened(measured.load.name, to: 60),
        place: measured.load.place.map { shortened("\($0)", to: 60) }, rate: measured.rate,
        backlog: measured.load.pendingUpdates, drops: measured.load.droppedUpdates)
    }
    return ([server] + shown, all.count - shown.count)
  }
}
#endif
