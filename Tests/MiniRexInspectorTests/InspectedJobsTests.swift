import Foundation
import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

@testable import MiniRexInspector

private struct Charge: Codable, Identifiable, Sendable {
  var id: String
}

private struct Shop: Codable, Sendable {
  var charges = Jobs<Charge>()
}

private enum Action: Codable, Sendable {
  case ordered(String, notBefore: UnixTime? = nil)
  case charges(JobsAction<Charge>)
}

private struct Declined: Error {}

private func sell(_ shop: inout Shop, _ action: Action) -> Effect<Action> {
  switch action {
  case .ordered(let id, let time): shop.charges.add(Charge(id: id), notBefore: time)
  case .charges(let action): shop.charges.reduce(action)
  }
  return .none
}

@Suite(.light, .serialized) struct InspectedJobsTests {
  @Test func `W11 the inspector lists the jobs and the metrics count them`() async throws {
    let graph = LiveGraph()
    let inspector = try Inspector(of: graph)
    let store = Store(Shop(), name: "shop", instrument: graph, reducer: sell)
    inspector.watch(store)
    let clock = ManualClock()
    let time = UnixTime(milliseconds: 1_000_000)
    let working = store.perform(
      \.charges, Action.charges, atMost: 1, retrying: .never, clock: clock, now: { time }
    ) { charge, _ in
      if charge.id == "a" { throw Declined() }
      try await clock.sleep(for: .seconds(1))
      return .charges(.remove(charge.id))
    }
    store.send(.ordered("a"))
    await until { store.state.charges.counts.failed == 1 }
    for id in ["b", "c"] { store.send(.ordered(id)) }
    store.send(.ordered("d", notBefore: time.advanced(by: .seconds(60))))
    let page = try WatchingPage(inspector.port)
    await until { page.store()?.jobs?.first?.jobs.count == 4 }

    let line = try #require(page.store()?.jobs?.first)
    #expect(line.path == #"\Shop.charges"#)
    #expect(line.pending == 1 && line.waiting == 1 && line.running == 1 && line.failed == 1)
    #expect(line.jobs.map(\.id) == ["b", "a", "d", "c"])
    #expect(line.jobs.map(\.condition) == ["running", "failed", "waiting", "pending"])
    #expect(line.jobs.map(\.attempts) == [1, 1, 0, 0])
    #expect(line.jobs.map(\.failure) == [nil, "Declined()", nil, nil])
    #expect(line.jobs.map(\.since) == [1_000, 1_000, 1_000, 1_000])
    #expect(line.jobs.map(\.notBefore) == [nil, nil, 1_060, nil])
    let metrics = try await Metrics(inspector.port)
    let labels = #"store="shop",id="0",jobs="\\Shop.charges""#
    for state in ["pending", "waiting", "running", "failed"] {
      #expect(metrics.value("minirex_jobs", labels + ",state=\"\(state)\"") == 1)
    }
    #expect(metrics.value("minirex_job_attempts_total", labels) == 2)
    #expect(metrics.value("minirex_job_failures_total", labels) == 1)

    await working.invalidateAndWait()
    await until { page.store()?.jobs?.isEmpty == true }
  }
}
