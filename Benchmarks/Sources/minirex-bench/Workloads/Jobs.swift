import Foundation
import MiniRex
import MiniRexStore

private struct Errand: Codable, Identifiable, Sendable {
  var id: Int
}

private struct Errands: Codable, Sendable {
  var jobs = Jobs<Errand>()
}

private enum ErrandAction: Sendable {
  case added(Int)
  case done(Int)
  case jobs(JobsAction<Errand>)
}

private let doing: Reducer<Errands, ErrandAction> = { state, action in
  switch action {
  case .added(let id): state.jobs.add(Errand(id: id))
  case .done(let id): state.jobs.remove(id)
  case .jobs(let action): state.jobs.reduce(action)
  }
  return .none
}

/// Each workload has 100,000 other jobs in the state.
extension Suite {
  func jobs() {
    bench("job-change", "minirex", units: 2) {
      let state = Pending()
      return { k in
        for _ in 0..<k {
          // An older copy, as a journal and a performer hold it.
          let old = state.jobs
          state.jobs.add(Errand(id: state.next))
          state.jobs.remove(state.next - 100_000)
          state.next += 1
          withExtendedLifetime(old) {}
        }
      }
    }
    bench("job-perform", "minirex") {
      let done = DispatchSemaphore(value: 0)
      var first = Errands()
      let never = UnixTime(milliseconds: .max)
      for id in 0..<100_000 { first.jobs.add(Errand(id: id), notBefore: never) }
      let store = Store(first, reducer: doing)
      let working = store.perform(\.jobs, ErrandAction.jobs, atMost: 8) { errand, _ in
        done.signal()
        return .done(errand.id)
      }
      let state = Pending()
      return { k in
        for _ in 0..<k {
          state.next += 1
          store.send(.added(state.next))
        }
        for _ in 0..<k { done.wait() }
        withExtendedLifetime(working) {}
      }
    }
  }
}

private final class Pending {
  var jobs = Jobs<Errand>()
  var next = 100_000

  init() {
    for id in 0..<100_000 { jobs.add(Errand(id: id)) }
  }
}
