import Foundation
import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// Several stores, races with their end, and releases at awkward moments.
@Suite(.heavy, .serialized) struct StoreAttackTests {
  let seed = ProcessInfo.processInfo.environment["MINIREX_SEED"].flatMap(UInt64.init) ?? 20_240_229

  typealias Count = Store<Int, Int>

  @Test func `two stores that send to each other deliver everything in order`() async {
    for round in 0..<scaled(15) {
      let reducer: Reducer<Int, Int> = { state, action in
        state += action
        return .none
      }
      // `first` sends 1,000 before any subscriber exists.
      let stores = [Count(0, first: 1_000, reducer: reducer), Count(0, reducer: reducer)]
      let recorders = stores.map { Recorder($0.events.compactMap { $0.commit }) }
      let bag = SubscriptionBag()
      for (one, other) in [(stores[0], stores[1]), (stores[1], stores[0])] {
        one.events.compactMap { $0.action }.subscribe(weakly: other) { other, action in
          if action > 1 { other.send(action - 1) }
        }
        .store(in: bag)
      }
      onThreads(4) { thread in
        var random = SeededGenerator(seed: seed &+ UInt64(round * 8 + thread))
        for _ in 0..<50 { stores[thread % 2].send(Int.random(in: 1..<9, using: &random)) }
      }
      await until { stores.allSatisfy { $0.pendingUpdates == 0 } }

      for (index, recorder) in recorders.enumerated() {
        let commits = recorder.updates
        let first = index == 0 ? 2 : 1
        #expect(commits.map(\.number) == Array(first..<(first + commits.count)), "round \(round)")
        var sum = index == 0 ? 1_000 : 0
        var isModel = true
        for commit in commits {
          if case .action(let action) = commit.cause { sum += action }
          if commit.state != sum { isModel = false }
        }
        #expect(isModel && stores[index].state == sum, "seed \(seed), round \(round)")
      }
      withExtendedLifetime(bag) {}
    }
  }

  @Test func `a waiting task resumes once on end, cancellation, or release`()
    async
  {
    for round in 0..<scaled(70) {
      let box = Shared<Count?>(
        Count(0) { (state: inout Int, action: Int) in
          state += 1
          switch action % 4 {
          case 0: return .run { _ in try await Task.sleep(for: .seconds(600)) }
          case 1: return .run { send in send(2) }
          case 2: return .publisher { Broadcaster.never }
          default:
            return .concatenate(.publisher { PublishedValue.constant(2) }, .run { _ in })
              .cancellable(id: 1, cancelInFlight: true)
          }
        })
      let tasks = Shared<[StoreTask]>([])
      let returned = Shared(0)
      let told = Shared(0)
      let bag = SubscriptionBag()
      onThreads(4) { thread in
        var random = SeededGenerator(seed: seed &+ UInt64(round * 8 + thread))
        for step in 0..<12 {
          guard let store = box.value else { return }
          let task = store.send(Int.random(in: 0..<4, using: &random))
          tasks.append(task)
          task.publisher.subscribe { _ in told.increment() }.store(in: bag)
          let waiting = Task {
            try? await task.finished()
            returned.increment()
          }
          switch Int.random(in: 0..<4, using: &random) {
          case 0: task.cancel()
          case 1: waiting.cancel()
          case 2: tasks.value.randomElement(using: &random)?.cancel()
          default: break
          }
          if thread == 0, step == 9 { box.value = nil }
        }
      }
      box.value = nil

      await until { returned.value == tasks.value.count && told.value == tasks.value.count }
      let areFinished = tasks.value.allSatisfy { $0.isFinished }
      #expect(areFinished, "seed \(seed), round \(round)")
    }
  }

  @Test func `a store released by any closure ends once and duplicates no commit`()
    async
  {
    for round in 0..<scaled(100) {
      let box = Shared<Count?>(nil)
      let randoms = Shared(SeededGenerator(seed: seed &+ UInt64(round)))
      // Can release the last reference in a reducer, a start of an effect, an effect, a handler, or
      // a callback.
      @Sendable func perhapsLetGo() {
        if randoms.change({ Int.random(in: 0..<60, using: &$0) }) == 0 { box.value = nil }
      }
      box.value = Count(0) { (state: inout Int, action: Int) in
        state += 1
        perhapsLetGo()
        switch action % 5 {
        case 0:
          return .run { send in
            perhapsLetGo()
            send(4)
          }
          .cancellable(id: "run", cancelInFlight: action == 0)
        case 1:
          return .publisher {
            perhapsLetGo()
            return Broadcaster { receive in
              receive(4)
              return Subscription {
                perhapsLetGo()
                withExtendedLifetime(receive) {}
              }
            }
          }
          .cancellable(id: "publisher", cancelInFlight: true)
        case 2: return .cancel(id: "publisher")
        default: return .none
        }
      }
      let hasEnded = Shared(0)
      let commits = Shared<[Int]>([])
      let token = box.value?.events.compactMap { $0.commit?.number }.subscribe {
        commits.append($0)
        perhapsLetGo()
      } onEnd: {
        hasEnded.increment()
      }
      attack(box, round: round, perhapsLetGo)
      await until { hasEnded.value > 0 }

      #expect(hasEnded.value == 1 && token?.isSubscribed == false, "seed \(seed), round \(round)")
      #expect(commits.value == Array(1..<(1 + commits.value.count)), "seed \(seed), round \(round)")
    }
  }

  /// Sends, subscribes, and reads until the store is released, and finally releases it.
  private func attack(
    _ box: Shared<Count?>, round: Int, _ perhapsLetGo: @escaping @Sendable () -> Void
  ) {
    onThreads(4) { thread in
      var random = SeededGenerator(seed: seed &+ UInt64(round * 8 + thread))
      for step in 0..<60 {
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
          let recorder = box.value.map { Recorder($0.publisher) { _ in perhapsLetGo() } }
          recorder?.invalidate()
        // Not inside `withObservationTracking`, which leaks objects that are released while it
        // runs.
        case 1: _ = box.value?.magnitude
        case 2: _ = box.value?.state
        case 3: box.value?.send(step).cancel()
        default: box.value?.send(step)
        }
      }
    }
    box.value = nil
  }
}
