import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

extension StoreContractTests {
  @Test func `S41 an instrumented store is one source with its name`() {
    let graph = LiveGraph(clock: ManualClock())
    let store = Store(
      House(guest: Room()), name: "house", instrument: graph, fileID: "App/Main.swift", line: 3)
    let guest = store.scope(ifPresent: \.guest)
    let tokens = [
      subscribe(store.publisher(of: \.visits), 10), subscribe(store.events, 11),
      guest.map { subscribe($0.publisher(of: \.lamps), 12) },
      guest.map { subscribe($0.events, 13) },
    ]

    store.visits += 1
    guest?.lamps += 1

    withExtendedLifetime((tokens, guest)) {
      #expect(
        graph.tree() == """
          house, App/Main.swift:3, 4 subscribers
          ├─ 4 → scope \\House.guest
          │  ├─ → publisher
          │  │  └─ 2 → subscribe, App/Main.swift:12
          │  └─ → events
          │     └─ 2 → subscribe, App/Main.swift:13
          ├─ 2 → publisher
          │  └─ 2 → subscribe, App/Main.swift:10
          └─ 2 → subscribe, App/Main.swift:11

          """)
    }
  }

  @Test func `S41 an instrumented store counts and adds the times of its reducer`() throws {
    let pause = Duration.milliseconds(2)
    let store = Store(0, instrument: LiveGraph()) { (_: inout Int, _: Int) -> Effect<Int> in
      let end = ContinuousClock.now + pause
      while ContinuousClock.now < end {}
      return .none
    }
    let start = ContinuousClock.now
    for _ in 0..<3 { store.send(1) }
    let duration = ContinuousClock.now - start

    let times = try #require(store.reducerTimes?.histogram)
    #expect(times.total >= pause * 3 && times.total <= duration)
    #expect(times.counts.reduce(0, +) == 3)
    #expect(zip(ReducerTimes.bounds, times.counts).allSatisfy { $0 >= pause || $1 == 0 })
  }

  @Test func `S41 rows, diffs, and histories have distinct names`() {
    struct Line: Codable, Identifiable, Sendable, Equatable {
      var id: String
      var count = 0
    }
    struct Page: Codable, Sendable { var lines: Rows<Line> = [Line(id: "a"), Line(id: "b")] }
    let graph = LiveGraph()
    let store = Store(Page(), name: "page", instrument: graph)
    let rows = store.scope(rows: \.lines)
    let history = History(of: store)
    let tokens = [subscribe(store.diffs, 1), subscribe(history.canUndo, 2)]

    let names = graph.snapshot().nodes.map(\.name)
    withExtendedLifetime((rows, tokens)) {
      #expect(names.contains("scope \\Page.lines a") && names.contains("scope \\Page.lines b"))
      #expect(names.contains("diffs") && names.contains("canUndo") && names.contains("canRedo"))
    }
  }

  @Test func `S41 a publisher effect is a subscription with its commit's number`() {
    let graph = LiveGraph(clock: ManualClock())
    let ticks = BroadcastSource<Int>(
      name: "ticks", instrument: graph, fileID: "App/Main.swift", line: 1)
    let store = Store(0) { (state: inout Int, action: Int) in
      state += action
      guard action == 0 else { return .none }
      let effect: Effect<String> = .publisher { ticks.publisher.map { "\($0)" } }
      return effect.map { Int($0) ?? 0 }.cancellable(id: "ticks")
    }

    store.send(5)
    store.send(0)
    ticks.broadcast(1)
    ticks.broadcast(2)
    let running = graph.tree()
    store.send(0)
    let both = graph.snapshot().nodes.map(\.name)

    #expect(store.state == 8)
    #expect(
      running == """
        ticks, App/Main.swift:1, 1 subscriber
        └─ 2 → map
           └─ 2 → effect of commit 2

        """)
    #expect(both.contains("effect of commit 2") && both.contains("effect of commit 5"))
  }

  @Test func `S41 an instrument receives subscriptions, deliveries, queued events, and the end`()
    async
  {
    let heard = Heard()
    func use() {
      let store = Store(
        Counter(), name: "counter", instrument: heard, fileID: "App/Main.swift", line: 3,
        reducer: addOrRename)
      let (isCalled, isSent) = (Gate(), Gate())
      let scope: Store<Int, Int> = store.scope(\.count) { .add($0) }
      let token = scope.publisher.subscribe { count in
        guard count == 1 else { return }
        isCalled.open()
        isSent.wait()
      }
      onThreads(2) { thread in
        if thread == 0 {
          store.send(.add(1))
        } else {
          isCalled.wait()
          for _ in 0..<4 { store.send(.add(1)) }
          isSent.open()
        }
      }
      token.invalidate()
    }

    use()
    // A thread can retain the store for a moment after it reported its end.
    await until { heard.events.value.last?.kind == .sourceFinished }

    let events = heard.events.value
    #expect(Set(events.map(\.label)) == ["counter"])
    let ends: [InstrumentEvent.Kind] = [.subscribed, .unsubscribed, .sourceFinished]
    #expect(events.map(\.kind).filter(ends.contains) == ends)
    #expect(events.count { $0.kind == .delivered } == 6)
    let backlogs: [InstrumentEvent.Kind] = [.backlog(2), .backlog(4)]
    #expect(events.map(\.kind).filter(backlogs.contains) == backlogs)
  }

  @Test func `S41 a store uses the current instrument of its creation`() {
    let graph = LiveGraph()
    let store = withInstrument(graph) { Store(Counter()) }
    let other = Store(Counter())

    withExtendedLifetime((store, other)) {
      #expect(graph.snapshot().nodes.map(\.name) == ["Store<Counter, Never>"])
    }
  }

  private func subscribe<Update, Kind>(
    _ publisher: Publisher<Update, Kind>, _ line: Int
  ) -> Subscription {
    publisher.subscribe({ _ in }, fileID: "App/Main.swift", line: line)
  }
}

private struct Heard: Instrument {
  let events = Shared<[InstrumentEvent]>([])
  let backlogLimit = 2

  func record(_ event: InstrumentEvent) { events.append(event) }
}
