import Foundation
import MiniRex
import MiniRexStore
import MiniRexTesting
import Synchronization
import TestSupport
import Testing

/// Many threads and rounds from one seed, compared with a model that replays the commits in order
/// of number.
@Suite(.heavy, .serialized) struct StoreStormTests {
  let seed = ProcessInfo.processInfo.environment["MINIREX_SEED"].flatMap(UInt64.init) ?? 20_240_229

  /// The actions of threads, reducers, effects, and callbacks.
  ///
  /// The reducer sends `nest`.
  enum Action: Sendable, Equatable {
    case add(Int)
    case nest(Int)
    case run(Int)
    case follow(Int)
    case cancel(Int)
  }

  struct Model: Sendable, Equatable {
    var sum = 0
    var commits = 0

    mutating func reduce(_ action: Action) {
      commits += 1
      switch action {
      case .add(let amount): sum += amount
      case .nest(let amount), .run(let amount), .follow(let amount): sum -= amount
      case .cancel: break
      }
    }
  }

  @Sendable static func reduce(_ state: inout Model, _ action: Action) -> Effect<Action> {
    state.reduce(action)
    switch action {
    case .add, .cancel(0): return .none
    case .nest(let amount): return .send(.add(amount))
    case .run(let amount):
      return .run { send in send(.add(amount)) }.cancellable(id: amount % 4)
    case .follow(let amount):
      return .publisher { PublishedValue.constant(.add(amount)) }
        .cancellable(id: amount % 4, cancelInFlight: amount % 2 == 0)
    case .cancel(let id): return .cancel(id: id % 4)
    }
  }

  @Test func `concurrent commits match one thread in commit order`()
    async
  {
    var longest = 0
    for round in 0..<scaled(10) {
      let store = Store(Model(), reducer: Self.reduce)
      let events = Recorder(store.events) { event in
        // Some callbacks send.
        if case .add(3)? = event.action { store.send(.add(-3)) }
      }
      let values = Recorder(store.publisher(of: \.sum))
      let runs = Shared<[[Int]]>([])
      onThreads(4) { thread in
        var random = SeededGenerator(seed: seed &+ UInt64(round * 8 + thread))
        for _ in 0..<200 {
          let amount = Int.random(in: 1..<9, using: &random)
          switch Int.random(in: 0..<10, using: &random) {
          case 0: store.send(.nest(amount))
          case 1: store.send(.run(amount))
          case 2: store.send(.follow(amount))
          case 3: store.send(.cancel(amount))
          case 4: store.send(.run(amount)).cancel()
          case 5:
            let recorder = Recorder(store.events.compactMap { $0.commit?.number })
            store.send(.add(amount))
            recorder.invalidate()
            runs.change { $0.append(recorder.updates) }
          default: store.send(.add(amount))
          }
        }
      }
      await until { store.effectCount == 0 && store.pendingUpdates == 0 }
      store.send(.add(0))
      await until { events.updates.last?.action == .add(0) }

      let commits = events.updates.compactMap { $0.commit }
      #expect(commits.map(\.number) == Array(1...commits.count), "seed \(seed), round \(round)")
      var model = Model()
      var isModel = true
      for commit in commits {
        guard case .action(let action) = commit.cause else { continue }
        model.reduce(action)
        if model != commit.state { isModel = false }
      }
      #expect(isModel, "seed \(seed), round \(round)")
      #expect(store.state == model)
      #expect(values.updates.last == model.sum)
      for run in runs.value {
        #expect(zip(run, run.dropFirst()).allSatisfy { $1 == $0 + 1 })
      }
      longest = max(longest, runs.value.map(\.count).max() ?? 0)
      expectEffectsArePaired(events.updates)
      #expect(store.hasForgottenEffects)
    }
    #expect(longest > 0)
  }

  /// Expects each effect to start once, after its commit, and to end once after that.
  private func expectEffectsArePaired(_ events: [StoreEvent<Model, Action>]) {
    var committed = 0
    var running: Set<EffectRun> = []
    var isPaired = true
    for event in events {
      switch event {
      case .committed(let commit): committed = commit.number
      case .began(let run):
        if run.commit > committed || !running.insert(run).inserted { isPaired = false }
      case .ended(let run, _, _): if running.remove(run) == nil { isPaired = false }
      }
    }
    #expect(isPaired && running.isEmpty)
  }

  @Test func `stores released during use end their effects and subscriptions`() async {
    for round in 0..<scaled(30) {
      let box = Shared<Store<Model, Action>?>(Store(Model(), reducer: Self.reduce))
      let tasks = Shared<[StoreTask]>([])
      let recorder = box.value.map { Recorder($0.events) }
      onThreads(4) { thread in
        var random = SeededGenerator(seed: seed &+ UInt64(round * 8 + thread))
        for step in 0..<50 {
          guard let store = box.value else { return }
          let task = store.send(.run(Int.random(in: 1..<9, using: &random)))
          tasks.change { $0.append(task) }
          if thread == 0, step == 25 { box.value = nil }
        }
      }

      // An effect retains the store while it is inside.
      await until { recorder?.hasEnded == true }
      for task in tasks.value {
        _ = try? await task.finished()
        #expect(task.isFinished)
      }
    }
  }

  @Test func `writers, readers, and observers of members agree in the end`() {
    for _ in 0..<scaled(10) {
      let store = Store(Counter())
      let values = Recorder(store.publisher(of: \.count))
      onThreads(4) { thread in
        for _ in 0..<200 {
          if thread == 3 {
            _ = store.count
            _ = store.publisher.current()
          } else {
            store.count += 1
          }
        }
      }

      #expect(store.state.count == 600)
      #expect(values.updates == Array(0...600))
    }
  }

  @Test func `concurrent changes in place match one thread in commit order`()
    async
  {
    struct Refusal: Error {}
    for round in 0..<scaled(8) {
      let store = Store([Int]())
      let events = Recorder(store.events) { event in
        // Some callbacks commit, and the changes of a throwing body stay.
        guard event.commit?.state.last == 7 else { return }
        #expect(throws: Refusal.self) {
          try store.commit("7") { all in
            all.append(-7)
            throw Refusal()
          }
        }
      }
      let counts = Shared<[Int]>([])
      onThreads(4) { thread in
        var random = SeededGenerator(seed: seed &+ UInt64(round * 8 + thread))
        for _ in 0..<200 {
          let next = Int.random(in: 1..<9, using: &random)
          let count = store.commit("\(next)") { all in
            all.append(next)
            return all.count
          }
          counts.append(count)
        }
      }
      await until { events.updates.last?.commit?.state.count == store.state.count }

      let commits = events.updates.compactMap { $0.commit }
      let model = store.state
      #expect(commits.map(\.number) == Array(1...model.count), "seed \(seed), round \(round)")
      #expect(commits.allSatisfy { $0.state.elementsEqual(model.prefix($0.number)) })
      #expect(
        zip(commits, model).allSatisfy {
          if case .change("\(abs($1))") = $0.cause { true } else { false }
        })
      #expect(Set(counts.value).count == 800 && model.count { $0 > 0 } == 800)
      #expect(model.count { $0 == 7 } == model.count { $0 == -7 })
    }
  }
}
