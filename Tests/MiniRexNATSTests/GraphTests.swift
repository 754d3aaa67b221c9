#if NATS
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct GraphTests {
  @Test func `N10 subjects, buckets, streams, and requests are named nodes`() async throws {
    let server = try await NATSServer.keeping()
    let graph = LiveGraph()
    var options = NATSOptions()
    options.name = "shop"
    let (nats, orders, theme, events, jobs, quote) = withInstrument(graph) {
      let nats = NATSConnection(server.url, options: options)
      return (
        nats, nats.broadcaster(of: Int.self, on: "orders.*"),
        nats.bucket("config").publishedValue(of: Int.self, for: "theme"),
        nats.stream("board").broadcaster(of: Int.self, from: .beginning),
        nats.stream("board").work(of: Int.self, durable: "billing"),
        nats.request(Int.self, 1, on: "quotes", timeout: .seconds(600))
      )
    }
    let unanswered = TaskSource<Int, Never>()
    let tokens = [
      nats.reply(on: "quotes") { (_: Int) in unanswered.publisher },
      orders.subscribe { _ in }, theme.subscribe { _ in }, events.subscribe { _ in },
      jobs.subscribe { _ in }, quote.subscribe { _ in }, nats.status.subscribe { _ in },
    ]

    let nodes = graph.snapshot().nodes

    let names = [
      "orders.*", "config[theme]", "board: >", "board: billing", "request on quotes",
      "shop: status", "shop: diagnostics",
    ]
    for name in names { #expect(nodes.contains { $0.name == name }, "\(name)") }
    for name in names.dropLast() {
      #expect(nodes.contains { $0.name == name && ($0.subscriberCount ?? 0) > 0 }, "\(name)")
    }
    withExtendedLifetime((tokens, unanswered)) {}
    await nats.close()
  }
}
#endif
