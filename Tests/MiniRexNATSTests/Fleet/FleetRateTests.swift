#if NATS
import MiniRex
import MiniRexNATS
import TestSupport
import Testing
@testable import MiniRexFleet

/// The rates and the silence that a report and a page derive from times.
@Suite(.heavy)
struct FleetRateTests {
  @Test func `a graph that is measured rarely has the rate of its interval`() {
    var rates = SubscriptionRates()
    let start = ContinuousClock.now
    func measure(_ updates: Int?, messages: Int, after seconds: Int) -> [String: Double] {
      var statistics = NATSStatistics()
      statistics.messagesIn = messages
      let loads = updates.map {
        [
          LiveGraph.Load(
            id: 1, name: "orders", place: nil, updateCount: $0, pendingUpdates: 0, droppedUpdates: 0
          )
        ]
      }
      let reports = rates.measure(loads, statistics, at: start + .seconds(seconds)).reports
      return Dictionary(uniqueKeysWithValues: reports.map { ($0.name, $0.rate) })
    }

    #expect(measure(10, messages: 0, after: 0) == ["NATS": 0, "orders": 0])
    #expect(measure(30, messages: 20, after: 2) == ["NATS": 10, "orders": 10])
    // The graph was not measured, so its last rate stays.
    #expect(measure(nil, messages: 60, after: 4) == ["NATS": 20, "orders": 10])
    #expect(measure(50, messages: 60, after: 6) == ["NATS": 0, "orders": 5])
  }

  @Test func `M2 a drop counts once, although reports omit its subscription`() {
    var rates = SubscriptionRates()
    func measure(_ drops: [Int]) -> Int {
      let loads = drops.enumerated().map { id, count in
        LiveGraph.Load(
          id: id, name: "orders", place: nil, updateCount: 0, pendingUpdates: 0,
          droppedUpdates: count)
      }
      let omitted = rates.measure(loads, NATSStatistics(), at: .now).omitted
      #expect(omitted == max(0, drops.count - SubscriptionRates.limit))
      return rates.dropCount
    }

    #expect(measure(Array(repeating: 5, count: 20)) == 100)
    #expect(measure(Array(repeating: 5, count: 19) + [6]) == 101)
    #expect(measure([5]) == 101)
  }

  @Test func `M3 a server without an answer for four seconds counts as stopped`() async throws {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let probe = ServerProbe(nats, of: "production")
    await until { probe.answers(at: .now) }

    // With a decision each second, the page shows it within six seconds.
    #expect(ServerProbe.patience == .seconds(4))
    #expect(!probe.answers(at: .now + .seconds(4)))
    probe.end()
    await nats.close()
  }
}
#endif
