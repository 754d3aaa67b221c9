import Foundation
import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// Threads that send, undo, and redo concurrently, compared with a model that replays the commits
/// in order of number.
@Suite(.heavy, .serialized) struct HistoryStormTests {
  let seed = ProcessInfo.processInfo.environment["MINIREX_SEED"].flatMap(UInt64.init) ?? 20_240_229

  struct Sheet: Sendable, Equatable {
    var words: [Int] = []
    var ticks = 0
  }

  enum Action: Sendable, Equatable {
    case add(Int)
    /// Adds, and sends another action in the same chain.
    case twice(Int)
    /// Not recorded.
    case tick
  }

  @Sendable static func reduce(_ state: inout Sheet, _ action: Action) -> Effect<Action> {
    switch action {
    case .add(let word): state.words.append(word)
    case .twice(let word):
      state.words.append(-word)
      return .send(.add(word))
    case .tick: state.ticks += 1
    }
    return .none
  }

  /// A single-threaded history with a limit.
  struct Model {
    let limit: Int
    var past: [Sheet] = []
    var present = Sheet()
    var future: [Sheet] = []

    mutating func reduce(_ action: Action) {
      let old = present
      _ = HistoryStormTests.reduce(&present, action)
      future = []
      if action == .tick { return }
      past = (past + [old]).suffix(limit)
    }

    /// Each recorded commit adds a word, so the number of words gives the direction.
    mutating func restore(_ state: Sheet) {
      if state.words.count < present.words.count, let last = past.popLast() {
        future.append(present)
        present = last
      } else if let next = future.popLast() {
        past.append(present)
        present = next
      }
    }
  }

  @Test
  func `S35 concurrent sends, undos, and redos match one thread in commit order`()
    async
  {
    for round in 0..<scaled(10) {
      let store = Store(Sheet(), reducer: Self.reduce)
      let history = History(of: store, limit: 20) { commit in
        if case .action(.tick) = commit.cause { false } else { true }
      }
      let events = Recorder(store.events.compactMap { $0.commit }) { commit in
        // Some callbacks undo.
        if case .action(.add(let word)) = commit.cause, word % 9 == 7 { history.undo() }
      }
      let back = Recorder(history.canUndo)
      let forth = Recorder(history.canRedo)
      let restored = Shared(0)
      onThreads(4) { thread in
        var random = SeededGenerator(seed: seed &+ UInt64(round * 8 + thread))
        for step in 1...200 {
          let word = thread * 1_000 + step
          switch Int.random(in: 0..<10, using: &random) {
          case 0...2: if history.undo() { restored.increment() }
          case 3, 4: if history.redo() { restored.increment() }
          case 5: store.send(.tick)
          case 6: store.send(.twice(word))
          default: store.send(.add(word))
          }
        }
      }
      await until { store.pendingUpdates == 0 }
      store.send(.tick)
      let (canUndo, canRedo) = (history.canUndo.current(), history.canRedo.current())
      await until {
        if case .action(.tick)? = events.updates.last?.cause { true } else { false }
      }
      await until { back.updates.last == canUndo && forth.updates.last == canRedo }

      let model = expectModel(events.updates, "seed \(seed), round \(round)")
      #expect(store.state == model.present)
      #expect(canUndo == !model.past.isEmpty && canRedo == false)
      for ways in [back, forth] {
        #expect(zip(ways.updates, ways.updates.dropFirst()).allSatisfy { $0 != $1 })
      }
      #expect(events.updates.count { $0.isRestored } >= restored.value)
      for state in model.past.reversed() {
        #expect(history.undo() && store.state == state)
      }
      #expect(!history.undo())
    }
  }

  private func expectModel(_ commits: [Commit<Sheet, Action>], _ round: String) -> Model {
    var model = Model(limit: 20)
    var isModel = true
    for commit in commits {
      if case .action(let action) = commit.cause { model.reduce(action) }
      if commit.isRestored { model.restore(commit.state) }
      if model.present != commit.state { isModel = false }
    }
    #expect(commits.map(\.number) == Array(1...commits.count), "\(round)")
    #expect(isModel, "\(round)")
    return model
  }
}

extension Commit {
  fileprivate var isRestored: Bool {
    if case .restored = cause { true } else { false }
  }
}
