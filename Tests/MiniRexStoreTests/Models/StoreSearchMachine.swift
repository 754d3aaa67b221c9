import MiniRex
import MiniRexStore
import Synchronization
import TestSupport

/// A pending step of a thread.
///
/// The last frame is the next step.
enum StoreFrame: Hashable {
  /// The remaining actions of a thread.
  case actions(next: Int)
  case enter(Int)
  /// A thread without access polls once more, and sleeps.
  case wait(Int)
  case parked(Int)
  case woken(Int)
  /// Inside the reducer: its sends, then the end of the action.
  case reducing(Int)
  case returning(Int)
  case reduced
  /// The locked step that admits the events of a chain, the step that frees the state, and the
  /// locked step that wakes sleeping threads.
  case tell
  case release
  case wake
  case turn(Int)
  case leave
  case proceed
  /// The locked step in which effects find the thread that starts them.
  case entered([Int])
  case beginning([Int])
  /// Inside the start of one effect.
  case begins(Int)
  case begun
}

/// Every value that the next step can depend on.
struct StoreMachineState: SearchedState {
  // As in the store and its delivery.
  var access: UInt = 0
  var starter = EffectStarter()
  var delivery = DeliveryModel()
  var updates: [Int] = []
  var queue: [Int] = []
  var deferred: [[Int]]
  /// The chain of the thread with access, its commits, and its effects.
  var chain = StoreChain()
  var commits: [Int] = []
  var begun: [Int] = []

  var threads: [[StoreFrame]]
  // The values that the rules are checked against.
  var told = 0
  /// The actions sent inside the reducer and not yet reduced, in order.
  var inside: [Int] = []
  var sent: Set<Int> = []
  var hasReacted: Set<Int> = []
  var broken: String?
}

/// Drives the real `StoreAccess`, `StoreChain`, `EffectStarter`, `Schedule`, and `Turnstile` in steps
/// that the search reorders.
///
/// Each step mirrors one atomic operation or one critical section of `StoreStorage` or `Delivery`.
struct StoreMachine: Searched {
  let program: StoreProgram
  var state: StoreMachineState

  init(_ program: StoreProgram) {
    self.program = program
    state = StoreMachineState(
      deferred: program.threads.map { _ in [] },
      threads: program.threads.map { _ in [.actions(next: 0)] })
    _ = state.delivery.schedule.join()
  }

  mutating func access<Result>(_ body: (borrowing StoreAccess) -> Result) -> Result {
    let access = StoreAccess()
    access.word.store(state.access, ordering: .relaxed)
    defer { state.access = access.word.load(ordering: .relaxed) }
    return body(access)
  }

  /// Returns `false` if the thread is finished or asleep.
  mutating func step(_ thread: Int) -> Bool {
    guard let frame = state.threads[thread].popLast() else { return false }
    switch frame {
    case .actions(let next):
      let actions = program.threads[thread]
      expect(next == 0 || state.chain.number >= next, "S3 a send returned before its commit")
      guard next < actions.count else { return true }
      push(.actions(next: next + 1), .enter(actions[next]), on: thread)
    case .enter(let action), .woken(let action): enter(action, on: thread)
    case .wait(let action): wait(action, on: thread)
    case .parked(let action):
      push(.parked(action), on: thread)
      return false
    case .reducing(let action): reduce(action, on: thread)
    case .returning(let action): follow(action, on: thread)
    case .reduced: next(on: thread)
    case .tell: tell(on: thread)
    case .release: release(on: thread)
    case .wake: wake()
    case .turn(let number): call(number, on: thread)
    case .leave: if !state.delivery.turnstile({ $0.leave() }) { push(.proceed, on: thread) }
    case .proceed: proceed(on: thread)
    case .entered(let effects):
      if state.starter.begin(effects.count, on: id(thread)) {
        push(.beginning(effects), on: thread)
      } else {
        state.deferred[thread] += effects
      }
    case .beginning(let effects): begin(effects, on: thread)
    case .begins(let action): push(.begun, .enter(action), on: thread)
    case .begun: break
    }
    return true
  }

  // `StoreStorage.enter`
  private mutating func enter(_ action: Int, on thread: Int) {
    let isInside = state.threads[thread].contains(.reduced)
    expect(state.sent.insert(action).inserted || !isInside, "S3 an action is sent twice")
    let caller = id(thread)
    switch access({ $0.enter(on: caller) }) {
    case .reduce:
      expect(!isInside, "S4 an action is reduced inside another")
      push(.reduced, .reducing(action), on: thread)
    case .queue:
      expect(isInside, "S4 an action of another thread is queued")
      state.chain.queue()
      state.queue.append(action)
      state.inside.append(action)
    case .wait:
      expect(!isInside, "S4 a reducer waits for itself")
      push(.wait(action), on: thread)
    }
  }

  // `StoreStorage.waitUntilFree`
  private mutating func wait(_ action: Int, on thread: Int) {
    expect(state.access | 1 != id(thread).rawValue | 1, "S7 a thread waits for itself")
    let sleeps = access { $0.wait() }
    expect(sleeps == (state.access != 0), "S3 a thread sleeps without need, or does not sleep")
    push(sleeps ? .parked(action) : .woken(action), on: thread)
  }

  private mutating func reduce(_ action: Int, on thread: Int) {
    let reducers = state.threads.indices.count {
      $0 != thread && state.threads[$0].contains(.reduced)
    }
    expect(reducers == 0, "S3 two commits overlap")
    if state.inside.first == action { state.inside.removeFirst() }
    expect(!state.inside.contains(action), "S4 an action overtakes another")
    state.commits.append(state.chain.commit())
    if program.effects[action] != nil { state.begun.append(action) }
    if let returned = program.returned[action] { push(.returning(returned), on: thread) }
    for nested in (program.nested[action] ?? []).reversed() { push(.enter(nested), on: thread) }
  }

  // `StoreStorage.reduceReturned`
  private mutating func follow(_ action: Int, on thread: Int) {
    expect(state.sent.insert(action).inserted, "S3 an action is sent twice")
    state.inside.append(action)
    if state.chain.hasQueued {
      state.chain.queue()
      state.queue.append(action)
    } else {
      push(.reducing(action), on: thread)
    }
  }

  // The step between two actions of a chain.
  private mutating func next(on thread: Int) {
    expect(state.chain.hasQueued == !state.queue.isEmpty, "S4 the queue count is wrong")
    if state.chain.takeNext() {
      guard !state.queue.isEmpty else {
        return expect(false, "S4 the queue is shorter than its count")
      }
      push(.reduced, .reducing(state.queue.removeFirst()), on: thread)
    } else {
      expect(state.queue.isEmpty, "S4 an action stays in the queue")
      push(.tell, on: thread)
    }
  }

  // `StoreStorage.leavePublishing`
  private mutating func tell(on thread: Int) {
    let commits = state.commits
    if !state.begun.isEmpty { push(.entered(state.begun), on: thread) }
    var isDeliverer = false
    for number in commits {
      if state.delivery.enter(on: thread, isOpen: false) {
        isDeliverer = true
      } else {
        state.updates.append(number)
      }
    }
    state.commits = []
    state.begun = []
    if isDeliverer { push(.leave, .turn(commits[0]), on: thread) }
    push(.release, on: thread)
  }

  // `StoreStorage.leave`
  private mutating func release(on thread: Int) {
    if access({ $0.leave() }) { push(.wake, on: thread) }
    expect(state.access == 0, "S3 the state is not released")
  }

  private mutating func wake() {
    for thread in state.threads.indices {
      if case .parked(let action)? = state.threads[thread].last {
        state.threads[thread][state.threads[thread].count - 1] = .woken(action)
      }
    }
  }

  private mutating func call(_ number: Int, on thread: Int) {
    expect(number == state.told + 1, "S12 commits are delivered out of order")
    expect(number <= state.chain.number, "S13 a commit is delivered before it is readable")
    state.told = number
    if let action = program.reactions[number], state.hasReacted.insert(number).inserted {
      push(.enter(action), on: thread)
    }
  }

  // `Delivery.deliverQueued`
  private mutating func proceed(on thread: Int) {
    let ticket =
      state.updates.isEmpty ? nil : state.delivery.schedule.ticketForAll(from: id(thread))
    switch state.delivery.schedule.next(
      front: ticket, unreleased: false, waiters: false, subscribers: true)
    {
    case .deliver:
      push(.leave, .turn(state.updates.removeFirst()), on: thread)
      let more = !state.updates.isEmpty
      state.delivery.turnstile { $0.acknowledge(expectingMore: more) }
    case .rest: state.delivery.turnstile { $0.rest() }
    default: expect(false, "the delivery takes a step unknown to the search")
    }
  }

  // `StoreStorage.begin`
  private mutating func begin(_ effects: [Int], on thread: Int) {
    let isNested = state.threads[thread].contains(.begun)
    expect(!isNested, "S6 an effect begins inside another's beginning")
    var effects = effects
    if effects.isEmpty {
      let count = state.starter.next(on: id(thread))
      expect(count == state.deferred[thread].count, "S6 effects are lost")
      if count == 0 { return }
      swap(&effects, &state.deferred[thread])
    }
    let action = effects.removeFirst()
    push(.beginning(effects), on: thread)
    if let sent = program.effects[action] { push(.begins(sent), on: thread) }
  }

  mutating func checkRest() {
    expect(state.threads.allSatisfy { $0.isEmpty }, "S9 all threads wait forever")
    if state.broken != nil { return }
    expect(state.chain.number == program.count, "S3 a commit is lost or doubled")
    expect(state.told == program.count, "S12 a commit is not delivered")
    expect(state.sent.count == program.count, "S5 an action is not sent")
    expect(state.starter.isEmpty, "S6 a thread starts effects forever")
    expect(!state.chain.hasQueued && state.updates.isEmpty, "S9 something is left")
  }
}
