import MiniRex
import MiniRexStore
import TestSupport
import Testing

/// Threads that commit, subscribe, and cancel at the same time.
@Suite(.heavy, .serialized) struct LiveRowsStormTests {
  @Test func `Q1 a query agrees with its store while other threads subscribe to both`() {
    let store = Store<TicketBoard, Never>(TicketBoard(30))
    let done = store.live(\.tickets).filter { $0.isDone }
    let faults = Shared(0)
    let received = Shared(0)
    let all = combineLatest(
      done.publisher, store.publisher(of: { [$0.edits, $0.limit] }), done.sorted(by: \.rank).count)
    @Sendable func subscribe() -> Subscription {
      // Glitch-freedom begins with the first turn after `subscribe` has returned.
      let start = Shared(Int.max)
      let subscription = all.subscribe { rows, numbers, count in
        received.increment()
        if numbers[1] <= start.value { return }
        if rows.count != numbers[0] || count != numbers[0] { faults.increment() }
      }
      start.value = store.state.limit
      return subscription
    }
    let first = subscribe()
    onThreads(4) { thread in
      var random = SeededGenerator(seed: UInt64(thread))
      var subscriptions: [Subscription] = []
      for round in 0..<scaled(300) {
        if thread < 2 {
          let id = Int.random(in: 0..<30, using: &random)
          store.commit { state in
            state.tickets[id: id]?.isDone.toggle()
            state.tickets[id: id]?.rank = round
            state.edits = state.tickets.count(where: \.isDone)
            state.limit += 1
          }
        } else {
          subscriptions.append(subscribe())
          if round.isMultiple(of: 3) { subscriptions = [] }
        }
      }
    }
    first.invalidate()
    #expect(faults.value == 0)
    #expect(received.value > 0)
    #expect(store.subscriberCount == 0)
  }

  @Test func `Q10 a snapshot stays the same while the query changes on another thread`() {
    let store = Store<TicketBoard, Never>(TicketBoard(200))
    let ranked = store.live(\.tickets).filter { $0.id >= 0 }.sorted(by: \.rank)
    let subscription = ranked.updates.subscribe { _ in }
    let faults = Shared(0)
    let reads = Shared(0)
    onThreads(4) { thread in
      var random = SeededGenerator(seed: UInt64(thread))
      for round in 0..<scaled(400) {
        if thread == 0 {
          let id = Int.random(in: 0..<200, using: &random)
          store.commit { $0.tickets[id: id]?.rank = round }
        } else {
          let rows = ranked.current()
          let ranks = rows.map(\.rank)
          if ranks.count != 200 || zip(ranks, ranks.dropFirst()).contains(where: { $0 > $1 }) {
            faults.increment()
          }
          if rows.map(\.rank) != ranks { faults.increment() }
          reads.increment()
        }
      }
    }
    withExtendedLifetime(subscription) {}
    #expect(faults.value == 0)
    #expect(reads.value > 0)
  }
}
