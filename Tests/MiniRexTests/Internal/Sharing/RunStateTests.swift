import MiniRex
import TestSupport
import Testing

/// Two shared works whose starts may act, and threads that join, cancel, and end them.
///
/// Every step mirrors one critical section of `SharedWork` and `WorkRun`.
private struct World: SearchedState, Searched {
  enum Action: Hashable {
    case subscribe(to: Int)
    /// Cancels the latest subscription of this thread, and waits for the work.
    case leave
    case end(Int)
  }

  enum Frame: Hashable {
    case actions(ArraySlice<Action>)
    case join(run: Int)
    case parked
    case attach(run: Int)
    case close(run: Int, leaver: Int?)
    case endStorage(run: Int, stops: Bool)
  }

  struct Run: Hashable {
    let work: Int
    var state: RunState<Int, Int, Int>
    /// Set by `storage.end()`: the next subscriber starts a new run.
    var hasEnded = false
    var stops = 0
  }

  struct Script {
    let starts: [[Action]]
    let threads: [[Action]]
  }

  let starts: [[Action]]
  var threads: [[Frame]]
  var runs: [Run] = []
  var current: [Int?] = [nil, nil]
  var graph = WaitForGraph()
  var memberships: [[Int]]
  /// For each thread, the number of starts that must return before its canceled work has returned.
  var awaited: [Int]
  var broken: String?

  init(_ script: Script) {
    starts = script.starts
    threads = script.threads.map { [.actions($0[...])] }
    memberships = threads.map { _ in [] }
    awaited = threads.map { _ in 0 }
  }

  var state: World {
    get { self }
    set { self = newValue }
  }

  mutating func step(_ thread: Int) -> Bool {
    guard let frame = threads[thread].last, frame != .parked else { return false }
    threads[thread].removeLast()
    switch frame {
    case .actions(var actions):
      guard let action = actions.popFirst() else { return true }
      threads[thread].append(.actions(actions))
      act(action, on: thread)
    case .join(let run):
      join(run, on: thread)
    case .parked:
      break
    case .attach(let run):
      let (joiners, leavers) = runs[run].state.attach(run)
      wake(joiners)
      if let leavers {
        runs[run].stops += 1
        for leaver in leavers { awaited[leaver] -= 1 }
      }
    case .close(let run, let leaver):
      if runs[run].state.isStarting, let leaver { awaited[leaver] += 1 }
      let (joiners, stop) = runs[run].state.end(for: leaver)
      wake(joiners)
      threads[thread].append(.endStorage(run: run, stops: stop != nil))
    case .endStorage(let run, let stops):
      runs[run].hasEnded = true
      if stops { runs[run].stops += 1 }
    }
    return true
  }

  private mutating func act(_ action: Action, on thread: Int) {
    switch action {
    case .subscribe(let work):
      if let run = current[work], !runs[run].hasEnded {
        runs[run].state.members += 1
        memberships[thread].append(run)
        return threads[thread].append(.join(run: run))
      }
      // Two runs of each work are enough to cover a restart.
      if runs.count(where: { $0.work == work }) == 2 { return }
      memberships[thread].append(runs.count)
      current[work] = runs.count
      threads[thread].append(.attach(run: runs.count))
      threads[thread].append(.actions(starts[work][...]))
      runs.append(Run(work: work, state: RunState(startedBy: id(thread))))
    case .leave:
      guard let run = memberships[thread].popLast() else { return }
      if !runs[run].state.leave() { return }
      if current[runs[run].work] == run { current[runs[run].work] = nil }
      threads[thread].append(.close(run: run, leaver: thread))
    case .end(let work):
      guard let run = runs.lastIndex(where: { $0.work == work }) else { return }
      threads[thread].append(.close(run: run, leaver: nil))
    }
  }

  private mutating func join(_ run: Int, on thread: Int) {
    guard let starter = runs[run].state.starter(for: id(thread)) else { return }
    if graph.add(id(thread), waitingFor: starter) {
      runs[run].state.joiners.append(thread)
      return threads[thread].append(.parked)
    }
    let isStarting = threads[thread].contains { if case .attach = $0 { true } else { false } }
    if !isStarting { broken = "R29 a thread that must wait does not wait" }
  }

  private mutating func wake(_ joiners: [Int]) {
    for joiner in joiners {
      graph.remove(id(joiner))
      if threads[joiner].popLast() != .parked { broken = "a running thread is resumed" }
    }
  }

  mutating func checkRest() {
    if !threads.allSatisfy(\.isEmpty) { broken = "R10 a thread waits forever" }
    if graph != WaitForGraph() { broken = "a running thread is recorded as waiting" }
    if awaited.contains(where: { $0 != 0 }) { broken = "R32 a canceled subscriber is not notified" }
    for (index, run) in runs.enumerated() {
      let members = memberships.joined().count { $0 == index }
      if run.state.members != members { broken = "a subscriber is lost" }
      switch run.state.phase {
      case .starting, .abandoned: broken = "R19 a start has not returned"
      case .working:
        if run.stops != 0 || members == 0 { broken = "R19 work without subscribers runs" }
      case .over: if run.stops != 1 { broken = "R19 work was stopped \(run.stops) times" }
      }
    }
  }
}

@Suite(.light) struct RunStateTests {
  @Test func `R10 R19 R29 R32 shared work keeps its invariants in every order of steps`() {
    let starts: [[World.Action]] = [
      [], [.subscribe(to: 1)], [.subscribe(to: 0), .leave], [.end(0)],
      [.subscribe(to: 1), .end(0)],
    ]
    let otherStarts: [[World.Action]] = [[], [.subscribe(to: 0)], [.end(0), .subscribe(to: 0)]]
    let scripts: [[World.Action]] = [
      [.subscribe(to: 0), .leave], [.subscribe(to: 1), .leave], [.end(0)],
      [.subscribe(to: 0), .subscribe(to: 0), .leave, .leave], [.subscribe(to: 0)],
    ]
    var all: [World.Script] = []
    for start in starts {
      for other in otherStarts {
        for (index, first) in scripts.enumerated() {
          for (second, third) in zip(scripts[index...], scripts[index...].dropFirst() + [[]]) {
            all.append(World.Script(starts: [start, other], threads: [first, second, third]))
          }
        }
      }
    }
    var states = 0
    // A single-threaded search is slow under a sanitizer, and a few worlds are enough there.
    let step = scale < 1 ? 100 : max(1, Int(13 / scale))
    for index in stride(from: 0, to: all.count, by: step) {
      let search = StateSearch<World>(all[index])
      states += search.states
      if let breach = search.breach {
        Issue.record("\(breach)")
        return
      }
    }
    print("state search, shared work: \(states) states")
  }
}
