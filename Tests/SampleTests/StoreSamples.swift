import MiniRex
import MiniRexStore
import MiniRexStoreTesting
import MiniRexTesting
import Observation
import TestSupport
import Testing

/// The code of README.md, MiniRexStore.md, GettingStartedWithAStore.md, StoreRules.md, and
/// MiniRexStoreTesting.md.
@Suite(.light) struct StoreSamples {
  let paper = Paper()

  func print(_ line: Any) { paper.print("\(line)") }

  struct Search: Sendable, Equatable {
    var query = ""
    var results: [String] = []
  }

  enum SearchAction: Sendable, Equatable {
    case queryChanged(String)
    case found([String])
  }

  func searching(
    _ find: @escaping @Sendable (String) async throws -> [String]
  ) -> Reducer<Search, SearchAction> {
    { state, action in
      switch action {
      case .queryChanged(let query):
        state.query = query
        return .run { send in send(.found(try await find(query))) }
          .cancellable(id: "search", cancelInFlight: true)
      case .found(let results):
        state.results = results
        return .none
      }
    }
  }

  @Test func `a store publishes the results of an effect`() async throws {
    let print = paper.print
    let store = Store(Search(), reducer: searching { [$0.uppercased()] })
    let subscription = store.publisher(of: \.results).subscribe { print("\($0)") }

    try await store.send(.queryChanged("rex")).finished()

    #expect(paper.lines == ["[]", "[\"REX\"]"])
    withExtendedLifetime(subscription) {}
  }

  @Test func `the store of the README needs no other declaration`() async throws {
    let print = paper.print

    enum Search: Sendable {
      case typed(String)
      case found([String])
    }

    let store = Store([String]()) { (results: inout [String], action: Search) in
      switch action {
      case .typed(let query): return .run { send in send(.found([query.uppercased()])) }
      case .found(let found): results = found
      }
      return .none
    }
    let subscription = store.publisher.subscribe { print("\($0)") }  // []
    try await store.send(.typed("rex")).finished()  // ["REX"]

    #expect(paper.lines == ["[]", "[\"REX\"]"])
    withExtendedLifetime(subscription) {}
  }

  @Test func `a test asserts a search and its results`() async throws {
    try await withTestStore(Search(), reducer: searching { [$0.uppercased()] }) { store in
      try store.send(.queryChanged("rex")) { $0.query = "rex" }
      try await store.receive(.found(["REX"])) { $0.results = ["REX"] }
    }
  }

  @Test func `an effect that would not end is canceled`() async throws {
    let forever = searching { _ in
      try await Task.sleep(for: .seconds(600))
      return []
    }
    try await withTestStore(Search(), reducer: forever) { store in
      let task = try store.send(.queryChanged("rex")) { $0.query = "rex" }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.finished() }
    }
  }

  @Test func `a canceled search has no results`() async throws {
    let slow = Store(
      Search(),
      reducer: searching { query in
        if query == "re" { try await Task.sleep(for: .seconds(60)) }
        return [query]
      })
    slow.send(.queryChanged("re"))
    try await slow.send(.queryChanged("rex")).finished()

    #expect(slow.results == ["rex"])
  }

  @Test func `a store without actions is changed in place`() {
    let print = paper.print
    let plain = Store(Search())
    let log = plain.events.subscribe { print("\($0)") }

    plain.query += "rex"
    plain.commit("forget") { $0 = Search() }

    #expect(paper.lines == ["1 \\Search.query", "2 forget"])
    withExtendedLifetime(log) {}
  }

  @Test func `a child has a reducer, which the parent calls`() async throws {
    struct App: Sendable {
      var search = Search()
      var searches = 0
    }
    enum AppAction: Sendable {
      case search(SearchAction)
    }
    let search = searching { [$0] }
    let app: Reducer<App, AppAction> = { state, action in
      switch action {
      case .search(let action):
        if case .queryChanged = action { state.searches += 1 }
        return search(&state.search, action).map(AppAction.search)
      }
    }
    let store = Store(App(), reducer: app)

    try await store.send(.search(.queryChanged("rex"))).finished()

    #expect(store.search.results == ["rex"] && store.searches == 1)
  }

  @Test func `a load can be canceled, and its end is an event`() async {
    let store = Store(
      Search(),
      reducer: searching { _ in
        try await Task.sleep(for: .seconds(60))
        return []
      })
    let task = store.send(.queryChanged("rex"))
    task.cancel()

    await #expect(throws: CancellationError.self) { try await task.finished() }
  }

  @Test func `reading a member observes it`() {
    let print = paper.print
    let store = Store(Search())
    withObservationTracking {
      print(store.query)
    } onChange: {
      print("changed to \(store.state.query)")
    }
    store.query = "rex"

    #expect(paper.lines == ["", "changed to rex"])
  }
}
