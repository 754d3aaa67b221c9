import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexInspector

@Suite(.light, .serialized) struct WorkBudgetTests {
  let graph = LiveGraph()

  @Test func `a budget grows with time up to its limit`() {
    var budget = WorkBudget(share: 0.01, limit: .milliseconds(100))
    let start = ContinuousClock.now
    func spend(_ used: Duration, _ count: Int, at time: Duration) {
      for _ in 0..<count { budget.spend(used, at: start + time) }
    }
    spend(.milliseconds(3), 30, at: .zero)
    #expect(!budget.isExceeded)
    spend(.milliseconds(3), 10, at: .zero)
    #expect(budget.isExceeded)
    spend(.zero, 30, at: .seconds(1))
    #expect(budget.isExceeded)
    spend(.zero, 30, at: .seconds(3))
    #expect(!budget.isExceeded)
    spend(.zero, 1, at: .seconds(1_000))
    spend(.milliseconds(3), 34, at: .seconds(1_000))
    #expect(budget.isExceeded)
  }

  @Test func `a few pieces of work per second exceed a budget only if they are long`() {
    var budget = WorkBudget(share: 0, limit: .milliseconds(50))
    let start = ContinuousClock.now
    for _ in 0..<14 { budget.spend(.milliseconds(20), at: start) }
    #expect(!budget.isExceeded)
    for _ in 0..<2 { budget.spend(.milliseconds(20), at: start) }
    #expect(budget.isExceeded)
  }

  @Test func `a budget recovers from a long debt within a minute`() {
    var budget = WorkBudget(share: 0.005, limit: .milliseconds(50))
    let start = ContinuousClock.now
    for second in 0..<100 { budget.spend(.seconds(1), at: start + .seconds(second)) }
    #expect(budget.isExceeded)
    for _ in 0..<30 { budget.spend(.zero, at: start + .seconds(161)) }
    #expect(!budget.isExceeded)
  }

  @Test func `a budget without a share is never exceeded`() {
    var budget = WorkBudget(share: nil, limit: .zero)
    for _ in 0..<3 { budget.spend(.seconds(1_000), at: .now) }
    #expect(!budget.isExceeded)
  }

  @Test func `a store that exceeds its share is recorded again after a pause`() async throws {
    var settings = Settings()
    // A debt is limited by the burst. Without a burst, no work exceeds its share.
    (settings.recordingShare, settings.burst) = (0, .microseconds(1))
    (settings.pause, settings.eventsShare) = (.milliseconds(20), nil)
    // The log keeps the commit after a pause until the page has it.
    settings.commits = 100_000
    let inspector = try Inspector(of: graph, settings)
    let store = Store(List(), reducer: listing)
    inspector.watch(store)
    let page = try WatchingPage(inspector.port)
    await until { page.store() != nil }

    // Only a pause has this cause, and only the subscription after the pause records it.
    let cause = "too many commits to record each"
    await until {
      for _ in 0..<30 { store.send(.rename("\(store.lastNumber)")) }
      return page.commits.contains { $0.cause == cause && $0.number > $0.previous + 1 }
    }
    store.send(.rename("last"))
    let last = store.lastNumber
    await until { page.store()?.number == last }
    #expect(try await commit(last, inspector.port)?.values["name"] == "\"last\"")
  }

  @Test func `a store that exceeds its share is not recorded after the last page closes`()
    async throws
  {
    var settings = Settings()
    (settings.recordingShare, settings.burst) = (0, .microseconds(1))
    settings.pause = .milliseconds(1)
    let inspector = try Inspector(of: graph, settings)
    let store = Store(List(), reducer: listing)
    inspector.watch(store)
    for _ in 0..<20 {
      let page = try WatchingPage(inspector.port)
      await until { page.store() != nil }
      store.send(.rename("\(store.lastNumber)"))
      page.cancel()
      await until { store.subscriberCount == 0 }
    }
    // The queue runs a pending resumption before this.
    let isOver = Shared(false)
    inspector.inspection.queue.asyncAfter(deadline: .now() + 0.05) { isOver.change { $0 = true } }
    await until { isOver.value && store.subscriberCount == 0 }
  }
}
