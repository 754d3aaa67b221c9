import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexInspector

private struct Failure: Error {}

private enum Job: Sendable {
  case start(String)
  case stop(String)
  case finish
  case fail
}

private func work(_ count: inout Int, _ job: Job) -> Effect<Job> {
  count += 1
  switch job {
  case .start(let name):
    return .run { _ in try await Task.sleep(for: .seconds(600)) }.cancellable(id: name)
  case .stop(let name): return .cancel(id: name)
  case .finish: return .run { _ in }.cancellable(id: "short job")
  case .fail: return .run { _ in throw Failure() }
  }
}

@Suite(.light, .serialized) struct EffectTimelineTests {
  let graph = LiveGraph()

  @Test func `the timeline has the beginning and the end of each effect`() async throws {
    let inspector = try Inspector(of: graph)
    let store = Store(0, name: "jobs", instrument: graph, reducer: work)
    inspector.watch(store)
    let page = try WatchingPage(inspector.port)
    await until { store.subscriberCount == 1 }

    store.send(.start("long job"))
    await until { page.store()?.spans.count == 1 }
    #expect(page.store()?.spans.first?.end == nil)
    store.send(.finish)
    store.send(.fail)
    store.send(.stop("long job"))
    await until { page.store()?.spans.count == 3 }
    await until { page.store()?.spans.allSatisfy { $0.end != nil } == true }

    let spans = try #require(page.store()?.spans)
    #expect(spans.map(\.name) == ["long job", "short job", nil])
    #expect(spans.map(\.commit) == [1, 2, 3])
    #expect(spans.map(\.outcome) == ["canceled", "finished", "failed: Failure()"])
    #expect(spans.allSatisfy { $0.start <= $0.end ?? 0 })
  }

  @Test func `effects that no page has seen begin and end in the timeline`() async throws {
    let inspector = try Inspector(of: graph)
    let store = Store(0, name: "jobs", instrument: graph, reducer: work)
    inspector.watch(store)
    store.send(.start("before"))
    await until { store.unfinishedEffects(atMost: 1).first?.age != nil }
    let page = try WatchingPage(inspector.port)
    await until { page.store()?.spans.map(\.name) == ["before"] }
    page.cancel()
    await until { store.subscriberCount == 0 }
    store.send(.stop("before"))
    await until { store.effectCount == 0 }

    let other = try WatchingPage(inspector.port)
    await until { other.store()?.spans.first?.outcome == EffectLog.unseen }
  }

  @Test func `the effects of a deallocated store end in the timeline`() async throws {
    let inspector = try Inspector(of: graph)
    let page = try WatchingPage(inspector.port)
    do {
      let store = Store(0, name: "jobs", instrument: graph, reducer: work)
      inspector.watch(store, alwaysRecords: true)
      store.send(.start("long job"))
      await until { page.store()?.spans.count == 1 }
    }
    await until { page.store()?.spans.first?.end != nil }
  }

  @Test func `the timeline keeps running effects longer than ended effects`() {
    var log = EffectLog(limit: 3)
    for number in 1...3 { log.begin(number, nil, commit: number, at: Double(number)) }
    log.end(2, "finished", at: 4)
    log.begin(4, nil, commit: 4, at: 5)
    #expect(log.spans.map(\.number) == [1, 3, 4])
    log.begin(5, nil, commit: 5, at: 6)
    #expect(log.spans.map(\.number) == [3, 4, 5])
  }

  @Test func `a recorded end replaces an end that was not recorded`() {
    var log = EffectLog(limit: 3)
    log.begin(2, "second", commit: 1, at: 2)
    log.begin(1, "first", commit: 1, at: 1)
    log.begin(2, "again", commit: 1, at: 9)
    log.endAll(except: [1], at: 3)
    #expect(log.spans.map(\.outcome) == [nil, EffectLog.unseen])
    log.end(2, "finished", at: 4)
    log.end(2, "canceled", at: 5)
    #expect(log.spans.map(\.outcome) == [nil, "finished"])
    #expect(log.spans.map(\.name) == ["first", "second"])
  }
}
