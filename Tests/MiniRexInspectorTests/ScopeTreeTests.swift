import MiniRex
import TestSupport
import Testing

@testable import MiniRexInspector
@testable import MiniRexStore

private struct Row: Sendable, Identifiable {
  let id: Int
  var note: Note? = Note()
}

private struct Note: Sendable { var text = "" }

private struct Shelf: Sendable {
  var rows = Rows((0..<10).map { Row(id: $0) })
  var note = Note()
}

@Suite(.light, .serialized) struct ScopeTreeTests {
  let graph = LiveGraph()

  @Test func `the page shows the scopes in use as a tree`() async throws {
    var settings = Settings()
    settings.rates = .milliseconds(20)
    let inspector = try Inspector(of: graph, settings)
    let store = Store(Shelf(), name: "shelf", instrument: graph)
    inspector.watch(store)
    let page = try WatchingPage(inspector.port)
    await until { page.store()?.scopes == [] }

    var rows = store.scope(rows: \.rows)
    let note = store.scope(\.note)
    // A scope retains the scope around it.
    var notes = rows.compactMap { $0.scope(ifPresent: \.note) }
    // The inspector may have looked while the scopes were made.
    await until { page.store()?.scopes?.map(\.count).sorted() == [1, 10, 10] }
    let scopes = try #require(page.store()?.scopes)
    #expect(scopes.map(\.count).sorted() == [1, 10, 10])
    #expect(scopes.map(\.depth).sorted() == [0, 0, 1])
    #expect(scopes.first { $0.depth == 1 }?.path.contains("Row") == true)

    store.commit { $0.rows.remove(id: 3) }
    await until { page.store()?.scopes?.filter { $0.count == 9 }.count == 2 }
    #expect(rows.count == 10 && notes.count == 10)
    (rows, notes) = ([], [])
    await until { page.store()?.scopes?.allSatisfy { $0.count == 1 } == true }
    withExtendedLifetime(note) {}
  }

  @Test func `the tree of scopes is limited`() {
    let deep = ScopeStatus(
      path: "a", count: 1,
      children: [
        ScopeStatus(path: "b", count: 2, children: []),
        ScopeStatus(path: "c", count: 1, children: []),
      ])
    let lines = ScopeLine.lines(of: [deep, deep], atMost: 4)
    #expect(lines.map(\.path) == ["a", "b", "c", "a"])
    #expect(lines.map(\.depth) == [0, 1, 1, 0])
  }
}
