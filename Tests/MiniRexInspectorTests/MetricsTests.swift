import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexInspector

private enum Work: Sendable {
  case wait
  case count
}

private struct Tally: Sendable, Encodable { var count = 0 }

private func work(_ tally: inout Tally, _ action: Work) -> Effect<Work> {
  switch action {
  case .wait: return .run { _ in try await Task.sleep(for: .seconds(600)) }
  case .count:
    tally.count += 1
    return .none
  }
}

@Suite(.light, .serialized) struct MetricsTests {
  let graph = LiveGraph()

  @Test func `metrics contain the counts of each source`() async throws {
    let numbers = BroadcastSource<Int>(name: "numbers", instrument: graph)
    let queue = DispatchQueue(label: "test")
    queue.suspend()
    let subscriptions = [
      numbers.publisher.subscribe { _ in },
      numbers.publisher.receive(on: queue, buffering: .bufferingNewest(2)).subscribe { _ in },
    ]
    let inspector = try Inspector(of: graph)

    for number in 0..<5 { numbers.broadcast(number) }

    let metrics = try await Metrics(inspector.port)
    #expect(metrics.head.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"))
    #expect(metrics.value("minirex_sources", "source=\"numbers\"") == 1)
    #expect(metrics.value("minirex_subscribers", "source=\"numbers\"") == 2)
    #expect(metrics.value("minirex_deliveries_total", "source=\"numbers\"") == 10)
    #expect(metrics.value("minirex_dropped_updates_total", "source=\"numbers\"") == 3)
    #expect(metrics.value("minirex_buffered_updates", "source=\"numbers\"") == 2)
    #expect(metrics.value("minirex_pending_updates", "source=\"numbers\"") == 0)
    #expect(metrics.text.contains("place=\"MiniRexInspectorTests/MetricsTests.swift:"))
    queue.resume()
    withExtendedLifetime(subscriptions) {}
  }

  @Test func `metrics contain the values of the program`() async throws {
    let inspector = try Inspector(of: graph)
    for (source, value) in [("one", 1.5), ("two \"b\"", 2)] {
      inspector.measure(source) {
        [
          InspectorMetric("queue_length", help: "The length\nof the queue.", value: value),
          InspectorMetric("calls_total", .counter, help: "Calls.", value: .infinity),
        ]
      }
    }

    let metrics = try await Metrics(inspector.port)
    #expect(
      metrics.text.hasSuffix(
        """
        # HELP queue_length The length\\nof the queue.
        # TYPE queue_length gauge
        queue_length{name="one"} 1.5
        queue_length{name="two \\"b\\""} 2
        # HELP calls_total Calls.
        # TYPE calls_total counter
        calls_total{name="one"} +Inf
        calls_total{name="two \\"b\\""} +Inf

        """))
  }

  @Test(arguments: ["", "1st", "a-b", "ä"])
  func `a name that Prometheus refuses traps with advice`(_ name: String) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [name] in _ = InspectorMetric(name, help: "", value: 0)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Use letters, digits, and underscores."))
  }

  @Test func `the updates that wait for a busy thread are pending in the metrics`() async throws {
    let numbers = BroadcastSource<Int>(name: "numbers", instrument: graph)
    let (isBusy, mayReturn) = (Shared(false), DispatchSemaphore(value: 0))
    let subscription = numbers.publisher.subscribe { number in
      if number > 0 { return }
      isBusy.change { $0 = true }
      mayReturn.waitAtMost()
    }
    let inspector = try Inspector(of: graph)
    onNewThread { numbers.broadcast(0) }
    await until { isBusy.value }

    for number in 1...3 { numbers.broadcast(number) }

    #expect(try await Metrics(inspector.port).value("minirex_pending_updates") == 3)
    mayReturn.signal()
    withExtendedLifetime(subscription) {}
  }

  @Test func `a counter does not decrease when one of several equal sources ends`() async throws {
    let inspector = try Inspector(of: graph)
    func make() -> BroadcastSource<Int> { BroadcastSource(name: "equal", instrument: graph) }
    func deliveries() async throws -> Int? {
      try await Metrics(inspector.port).value("minirex_deliveries_total")
    }
    func use(_ source: BroadcastSource<Int>) {
      let subscription = source.publisher.subscribe { _ in }
      source.broadcast(1)
      withExtendedLifetime(subscription) {}
    }
    let last = make()
    for count in 1...3 {
      use(make())
      #expect(try await deliveries() == count)
    }
    use(last)
    #expect(try await deliveries() == 4)

    last.end()
    let metrics = try await Metrics(inspector.port)
    #expect(metrics.text.isEmpty)
  }

  @Test func `the totals of ended sources are limited`() async throws {
    let inspector = try Inspector(of: graph)
    let kept = BroadcastSource<Int>(name: "kept", instrument: graph)
    func use(_ name: String) {
      let source = BroadcastSource<Int>(name: name, instrument: graph)
      let subscription = source.publisher.subscribe { _ in }
      source.broadcast(1)
      withExtendedLifetime(subscription) {}
    }
    for number in 0..<1_500 { use("source \(number)") }
    let metrics = try await Metrics(inspector.port)
    #expect(metrics.series("minirex_deliveries_total").count == 1)
    #expect(metrics.value("minirex_deliveries_total", "source=\"kept\"") == 0)
    withExtendedLifetime(kept) {}
  }

  @Test func `metrics contain the commits, the effects, and the reducer times of a store`()
    async throws
  {
    let inspector = try Inspector(of: graph)
    var store: Store? = Store(Tally(), name: "tally", instrument: graph, reducer: work)
    if let store { inspector.watch(store) }
    for _ in 0..<3 { store?.send(.count) }
    store?.send(.wait)

    let metrics = try await Metrics(inspector.port)
    let store0 = "store=\"tally\",id=\"0\""
    #expect(metrics.value("minirex_store_commits_total", store0) == 4)
    #expect(metrics.value("minirex_store_effects_total", store0) == 1)
    #expect(metrics.value("minirex_store_running_effects", store0) == 1)
    #expect(metrics.value("minirex_store_reducer_seconds_count", store0) == 4)
    let buckets = metrics.series("minirex_store_reducer_seconds_bucket").map(\.value)
    #expect(buckets.count == 14 && buckets == buckets.sorted() && buckets.last == 4)
    #expect(metrics.text.contains(",le=\"1e-06\"}") && metrics.text.contains(",le=\"1\"}"))
    #expect(metrics.text.contains(",le=\"+Inf\"} 4\n"))

    weak let gone = store
    store = nil
    // The effect retains the store while it begins.
    await until { gone == nil }
    #expect(try await !Metrics(inspector.port).text.contains("tally"))
  }

  @Test func `labels are escaped`() async throws {
    let name = "a\\b\"c\nd\r\ne{}#,=ü"
    let source = BroadcastSource<Int>(name: name, instrument: graph)
    let inspector = try Inspector(of: graph)
    let text = try await Metrics(inspector.port).text
    #expect(text.contains("source=\"a\\\\b\\\"c\\nd\r\\ne{}#,=ü\""))
    withExtendedLifetime(source) {}
  }

  @Test func `two stores with one name have separate series`() async throws {
    let inspector = try Inspector(of: graph)
    let stores = (0..<2).map { _ in Store(Tally(), name: "tally", reducer: work) }
    for store in stores { inspector.watch(store, name: "same") }
    let metrics = try await Metrics(inspector.port)
    #expect(metrics.series("minirex_store_commits_total").count == 2)
    #expect(Set(metrics.series("minirex_store_commits_total").map(\.labels)).count == 2)
    // No graph observes the stores.
    #expect(metrics.series("minirex_store_reducer_seconds_count").isEmpty)
    withExtendedLifetime(stores) {}
  }

  @Test(arguments: ["ready", "live"])
  func `health follows published values`(word: String) async throws {
    let inspector = try Inspector(of: graph)
    func answer() async throws -> String { try await get(inspector.port, "/\(word)") }
    #expect(try await answer().hasPrefix("HTTP/1.1 200 "))
    let (database, disk) = (PublishedProperty(false), PublishedProperty(90))
    for (value, name) in [
      (database.publisher, "database"), (disk.publisher.map { $0 < 95 }, "disk"),
    ] {
      if word == "ready" { inspector.ready(when: value, name: name) }
      if word == "live" { inspector.live(when: value, name: name) }
    }

    #expect(try await answer().hasPrefix("HTTP/1.1 503 "))
    #expect(try await answer().hasSuffix("\r\n\r\nnot \(word): database\n"))
    disk.value = 99
    #expect(try await answer().hasSuffix("\r\n\r\nnot \(word): database, disk\n"))
    (database.value, disk.value) = (true, 1)
    #expect(try await answer().hasPrefix("HTTP/1.1 200 "))
    #expect(try await answer().hasSuffix("\r\n\r\n\(word)\n"))
    #expect(try await get(inspector.port, word == "live" ? "/ready" : "/live").contains(" 200 "))
  }

  @Test func `metrics need the token`() async throws {
    let inspector = try Inspector(of: graph, token: "secret")
    for path in ["/metrics", "/ready", "/live"] {
      #expect(try await get(inspector.port, path).hasPrefix("HTTP/1.1 403 "))
      #expect(try await get(inspector.port, path + "?token=secret").hasPrefix("HTTP/1.1 200 "))
    }
  }
}

/// The answer to `GET /metrics`.
struct Metrics: Sendable {
  let head: String
  let text: String

  init(_ port: UInt16) async throws {
    let answer = try await get(port, "/metrics")
    let end = try #require(answer.range(of: "\r\n\r\n"))
    (head, text) = (answer[..<end.lowerBound] + "\r\n", String(answer[end.upperBound...]))
  }

  func series(_ name: String) -> [(labels: String, value: Int)] {
    text.components(separatedBy: "\n").compactMap { line in
      guard line.hasPrefix("\(name){"), let end = line.range(of: "} ", options: .backwards),
        let value = Int(line[end.upperBound...])
      else { return nil }
      return (String(line[..<end.lowerBound].dropFirst(name.count + 1)), value)
    }
  }

  /// The value of the first series with a label.
  func value(_ name: String, _ label: String = "") -> Int? {
    series(name).first { label.isEmpty || $0.labels.contains(label) }?.value
  }
}
