import MiniRex
import TestSupport
import Testing

/// A valve, the counter of one subscriber, and threads that send, broadcast, take, cancel, and end.
///
/// Every step mirrors one atomic operation or one critical section of `SendValve` and
/// `InFlightCounter`.
private struct World: SearchedState, Searched {
  enum Action: Hashable {
    case send, offer, broadcast, take, end, leave
    /// Cancels the sender of a thread.
    case cancel(Int)
  }

  enum Frame: Hashable {
    case actions(ArraySlice<Action>)
    case enterUnderLock
    case suspended
    case deliver
    case count(Int)
    case check
    case lockCounter
    case decide
    case leave
  }

  struct Script {
    let limit: Int
    let threads: [[Action]]
  }

  static let (free, sending, guarded) = (0, 1, 2)

  let limit: Int
  let broadcasts: Int
  var threads: [[Frame]]
  var broken: String?

  var word = World.free
  var valve = ValveState<Int>()
  var places: [Int: UInt] = [:]
  var isAttached = true
  /// The hold that the valve has recorded for the counter.
  var holdsValve = false

  var queue = 0
  var total = 0
  var isHolding = false
  var isLocked = false
  var inside = 0

  init(_ script: Script) {
    limit = script.limit
    threads = script.threads.map { [.actions($0[...])] }
    broadcasts = script.threads.joined().count { $0 == .broadcast || $0 == .offer }
  }

  var state: World {
    get { self }
    set { self = newValue }
  }

  mutating func step(_ thread: Int) -> Bool {
    guard let frame = threads[thread].last, frame != .suspended else { return false }
    if frame == .lockCounter, isLocked { return false }
    threads[thread].removeLast()
    switch frame {
    case .actions(var actions):
      guard let action = actions.popFirst() else { return true }
      push(.actions(actions), on: thread)
      act(action, on: thread)
    case .enterUnderLock: enter(on: thread)
    case .suspended: break
    case .deliver:
      queue += 1
      expect(
        !isAttached || queue <= limit + broadcasts, "F1 more updates than the limit are in flight")
    case .count(let difference): total += difference
    case .check: if wants(isHolding) != isHolding { push(.lockCounter, on: thread) }
    case .lockCounter:
      isLocked = true
      push(.decide, on: thread)
    case .decide: decide(on: thread)
    case .leave:
      inside -= 1
      if word == World.sending { word = World.free } else { withValve { $0.valve.leave() } }
    }
    return true
  }

  private mutating func act(_ action: Action, on thread: Int) {
    switch action {
    case .send:
      if word == World.free {
        word = World.sending
        begin(on: thread)
      } else {
        push(.enterUnderLock, on: thread)
      }
    case .offer:
      if word != World.guarded || valve.admitsOffer {
        push(.check, .count(1), .deliver, on: thread)
      }
    case .broadcast: push(.check, .count(1), .deliver, on: thread)
    case .take:
      if queue > 0 {
        queue -= 1
        push(.check, .count(-1), on: thread)
      }
    case .leave:
      isAttached = false
      let held = holdsValve
      holdsValve = false
      if held { withValve { $0.valve.release() } }
    case .end:
      var refused: [Int] = []
      withValve { world in
        refused = world.valve.end()
        if world.holdsValve { _ = world.valve.release() }
        world.holdsValve = false
        world.isAttached = false
        return nil
      }
      for sender in refused { resume(sender, isAdmitted: false) }
    case .cancel(let sender):
      guard let place = places[sender] else { return }
      var removed: Int?
      withValve { world in
        removed = world.valve.remove(place)
        return nil
      }
      if let removed { resume(removed, isAdmitted: false) }
    }
  }

  private mutating func begin(on thread: Int) {
    inside += 1
    expect(inside == 1, "F2 two senders are between their check and their delivery")
    push(.leave, .check, .count(1), .deliver, on: thread)
  }

  private mutating func enter(on thread: Int) {
    var entry = ValveState<Int>.Entry.refused
    withValve { world in
      entry = world.valve.enter(thread)
      return nil
    }
    switch entry {
    case .entered: begin(on: thread)
    case .refused: break
    case .suspended(let place):
      places[thread] = place
      push(.suspended, on: thread)
    }
  }

  private func wants(_ isHolding: Bool) -> Bool {
    isHolding ? total > limit / 2 : total >= limit
  }

  /// One pass of the loop under the lock of the counter.
  private mutating func decide(on thread: Int) {
    let new = wants(isHolding)
    if new == isHolding {
      isLocked = false
      return
    }
    isHolding = new
    push(.decide, on: thread)
    if !isAttached || holdsValve == new { return }
    holdsValve = new
    withValve { world in
      if new {
        world.valve.hold()
        return nil
      }
      return world.valve.release()
    }
  }

  /// `SendValve.withState`.
  private mutating func withValve(_ body: (inout World) -> Int?) {
    if word == World.sending { valve.register() }
    word = World.guarded
    let next = body(&self)
    if valve.isIdle { word = valve.unregister() ? World.sending : World.free }
    if let next { resume(next, isAdmitted: true) }
  }

  private mutating func resume(_ thread: Int, isAdmitted: Bool) {
    expect(threads[thread].popLast() == .suspended, "F2 a running sender is resumed")
    places[thread] = nil
    if isAdmitted { begin(on: thread) }
  }

  mutating func checkRest() {
    let suspended = threads.filter { $0.last == .suspended }.count
    expect(
      suspended == 0 || (isAttached && queue > limit / 2), "F9 a sender waits without a reason")
    expect(suspended == valve.suspended.count, "a suspended sender is lost")
    expect(total == queue, "the count differs from the queue")
    expect(isHolding == wants(isHolding), "a crossing is missed")
    expect(valve.holds == (holdsValve ? 1 : 0), "a hold is lost")
    expect(inside == 0 && !isLocked, "a sender is still inside")
    if valve.isIdle { expect(word == World.free, "the word is not free") }
  }
}

@Suite(.light) struct ValveStateTests {
  @Test func `F1 F2 F5 F7 F8 F9 a valve keeps its invariants in every order of steps`() {
    let senders: [[World.Action]] = [[.send, .send], [.send, .send, .send]]
    let others: [[World.Action]] = [
      [.send, .send], [.send, .offer], [.offer, .offer], [.broadcast, .broadcast],
    ]
    let takers: [[World.Action]] = [
      [.take, .take], [.take, .take, .take, .take], [.take, .leave], [.take, .end],
      [.cancel(0), .take, .take], [.cancel(1), .cancel(0)],
    ]
    var scripts: [World.Script] = []
    for limit in 1...3 {
      for sender in senders {
        for other in others {
          for taker in takers {
            scripts.append(World.Script(limit: limit, threads: [sender, other, taker]))
          }
        }
      }
    }
    var states = 0
    // A single-threaded search is slow under a sanitizer, and a few scripts are enough there.
    let step = scale < 1 ? 25 : max(1, Int(13 / scale))
    for index in stride(from: 0, to: scripts.count, by: step) {
      let search = StateSearch<World>(scripts[index])
      states += search.states
      if let breach = search.breach {
        Issue.record("\(breach)")
        return
      }
    }
    print("state search, valves: \(states) states")
  }

  @Test func `F14 an exempt sender enters before the others, but never beside one`() {
    var valve = ValveState<Int>()
    valve.hold()
    #expect(valve.enter(0) == .suspended(0))
    #expect(valve.enter(1) == .suspended(1))
    #expect(valve.admit(1) == 1)
    #expect(valve.admit(0) == nil)
    #expect(valve.leave() == nil)
    #expect(valve.release() == 0)
    #expect(valve.leave() == nil)
    #expect(valve.isIdle)
  }
}
