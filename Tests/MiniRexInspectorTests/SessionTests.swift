import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexInspector

private enum Job: Sendable {
  case start
  case stop
}

private func work(_ count: inout Int, _ job: Job) -> Effect<Job> {
  count += 1
  switch job {
  case .start:
    return .run { _ in try await Task.sleep(for: .seconds(600)) }.cancellable(id: "long job")
  case .stop: return .cancel(id: "long job")
  }
}

/// The answer to `GET /session`.
private struct Session: Decodable {
  struct Commit: Decodable {
    let commit: WatchingPage.Commit
    let changes: [WatchingPage.Change]?
  }

  struct Store: Decodable {
    let update: WatchingPage.StoreTold
    let commits: [Commit]
    let state: [CommitAnswer.Value]
    let stateCount: Int
  }

  let version: Int
  let time: Double
  let graph: WatchingPage.Graph
  let stores: [Store]
}

@Suite(.light, .serialized) struct SessionTests {
  let graph = LiveGraph()

  @Test func `the page lists running effects with the commit that began them`() async throws {
    let inspector = try Inspector(of: graph)
    let store = Store(0, name: "jobs", instrument: graph, reducer: work)
    inspector.watch(store)
    let page = try WatchingPage(inspector.port)
    await until { store.subscriberCount == 1 }

    store.send(.start)
    await until { page.store()?.effects.first?.start != nil }
    let effect = try #require(page.store()?.effects.first)
    #expect(effect.name == "long job" && effect.commit == 1 && effect.number == 1)
    #expect(abs((effect.start ?? 0) - Date().timeIntervalSince1970) < 60)
    store.send(.stop)
    await until { page.store()?.effects.isEmpty == true }
  }

  @Test func `the name of the store is the default title`() async throws {
    let inspector = try Inspector(of: graph)
    inspector.watch(Store(0, name: "jobs", instrument: graph, reducer: work))
    let (named, bare) = (Store(0, name: "jobs", instrument: graph), Store(0))
    inspector.watch(named, name: "mine")
    inspector.watch(bare)
    let page = try WatchingPage(inspector.port)
    await until { page.store(2) != nil }
    #expect((0..<3).map { page.store($0)?.name } == ["jobs", "mine", "Int"])
    withExtendedLifetime((named, bare)) {}
  }

  @Test func `the page receives the number of earlier commits`() async throws {
    let inspector = try Inspector(of: graph)
    let store = Store(0)
    inspector.watch(store, earlierCommits: 41)
    let page = try WatchingPage(inspector.port)
    await until { store.subscriberCount == 1 }
    store.commit { $0 += 1 }
    await until { page.store()?.number == 1 }
    #expect(page.store()?.earlierCommits == 41)
  }

  @Test func `a session has every commit with its changes, and the last state`() async throws {
    let inspector = try Inspector(of: graph)
    let store = Store(List(), name: "list", instrument: graph)
    inspector.watch(store, alwaysRecords: true)
    let page = try WatchingPage(inspector.port)
    for number in 0..<10 { store.commit { $0.items.append("\(number)") } }
    store.commit("more") { $0.items += (0..<8).map { "new \($0)" } }
    await until { page.store()?.number == 11 }

    let answer = try await get(inspector.port, "/session")
    let end = try #require(answer.range(of: "\r\n\r\n"))
    let session = try JSONDecoder().decode(Session.self, from: Data(answer[end.upperBound...].utf8))
    let told = try #require(session.stores.first)
    #expect(session.version == 1 && session.graph.tree.contains("list"))
    #expect(told.update.name == "list" && told.update.commits.isEmpty)
    #expect(told.commits.map(\.commit.number) == Array(1...11))
    #expect(told.commits.last?.changes?.count == 8 && told.stateCount == 19)
    #expect(told.commits.last?.commit.changes.count == 4)
    #expect(told.commits.last?.commit.paths.count == 4)
    #expect(told.state.contains { $0.path == "items/17" && $0.value == "\"new 7\"" })
  }
}
