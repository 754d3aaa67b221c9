internal import Synchronization

/// Counts the updates between the sources and one suspending subscriber.
///
/// Places on the way add an update when they queue it, and move it on when they call the next place.
/// At the limit, the counter holds the valves of all sources. At half of the limit, it releases them.
///
/// Thread-safe. The hold is decided again after each change of a count, and after each change of
/// itself, so no crossing is missed. Locks nest from a delivery to a counter to a valve.
@usableFromInline
package final class InFlightCounter: Sendable {
  enum Hold: UInt8, AtomicRepresentable {
    case open
    /// Ends when the moving updates are counted again or filtered out. Until then, they may fill the
    /// subscriber.
    case provisional
    /// Ends at half of the limit.
    case full
  }

  struct State {
    var valves: [ObjectIdentifier: SendValve] = [:]
    var outers: [WeakCounter] = []
    /// The instant of the hold, by the clock of the limit.
    var fullSince: Duration?
    var takenAt = Duration.zero
    var alarm: Alarm?
    /// Cancels the subscriber, and lets it finish with its queue.
    var timeOut: OnceClosure?
    /// `true` after the subscriber can no longer stall a sender.
    var isTimeoutOver = false
  }

  let limit: SuspendingLimit
  let place: CodePlace?
  /// A counter further downstream, whose updates also count.
  private let inner: InFlightCounter?
  /// The valve whose holds a relay passes on.
  weak let relayed: SendValve?
  let isRelay: Bool

  private let own = Atomic(0)
  /// The updates on their way from one place to the next.
  private let moving = Atomic(0)
  private let hold = Atomic(Hold.open)
  let hasOuters = Atomic(false)
  let hasTimedOutFlag = Atomic(false)
  /// The task of the loop, or 0.
  private let taskOfLoop = Atomic<UInt>(0)
  let state = Lock(State())
  let readers = RoomWaiters()

  init(_ limit: SuspendingLimit, at place: CodePlace?) {
    self.limit = limit
    self.place = place
    inner = nil
    relayed = nil
    isRelay = false
  }

  /// Creates a counter that passes the holds of a valve on to the sources of a shared
  /// subscription.
  init(relayOf valve: SendValve) {
    limit = .relay
    place = nil
    inner = nil
    relayed = valve
    isRelay = true
  }

  /// Creates a counter for the outer publisher of `flatMap`.
  ///
  /// Its own updates wait for an inner publisher, which they must not suspend.
  init(outerOf inner: InFlightCounter) {
    limit = inner.limit
    place = inner.place
    self.inner = inner
    relayed = nil
    isRelay = false
  }

  deinit {
    state.withLock { $0.alarm }?.end()
  }

  /// The counter of the subscriber.
  var root: InFlightCounter { inner?.root ?? self }

  var total: Int { own.load(ordering: .sequentiallyConsistent) + (inner?.total ?? 0) }

  var movingTotal: Int {
    moving.load(ordering: .sequentiallyConsistent) + (inner?.movingTotal ?? 0)
  }

  /// Changes the count.
  ///
  /// The caller calls ``check()`` after its locks.
  @usableFromInline
  func count(_ difference: Int) {
    own.add(difference, ordering: .sequentiallyConsistent)
  }

  @usableFromInline
  func add(_ count: Int = 1) {
    self.count(count)
    check()
  }

  @usableFromInline
  func subtract(_ count: Int = 1) {
    if count == 0 { return }
    self.count(-count)
    check()
  }

  /// Subtracts an update that the caller is about to pass to its next place.
  ///
  /// Until ``endMove()``, no sender uses its room: it may be counted at its next place, or be filtered
  /// out.
  @usableFromInline
  func beginMove() {
    moving.add(1, ordering: .sequentiallyConsistent)
    count(-1)
  }

  @usableFromInline
  func endMove() {
    moving.subtract(1, ordering: .sequentiallyConsistent)
    check()
  }

  /// Subtracts an update that the subscriber took.
  @usableFromInline
  func subtractTaken() {
    if limit.timeout != nil, hold.load(ordering: .relaxed) == .full {
      let now = limit.now()
      state.withLock { $0.takenAt = now }
    }
    subtract()
  }

  /// Records the task of the loop.
  @usableFromInline
  func isTaken(by task: UInt) {
    if taskOfLoop.load(ordering: .relaxed) != task { taskOfLoop.store(task, ordering: .relaxed) }
  }

  var loop: UInt { root.taskOfLoop.load(ordering: .relaxed) }

  /// Holds or releases the valves if a watermark is crossed.
  @usableFromInline
  func check() {
    let old = hold.load(ordering: .sequentiallyConsistent)
    if hold(after: old) != old { decide() }
    if hasOuters.load(ordering: .sequentiallyConsistent) {
      for outer in outers { outer.check() }
    }
    readers.resume { hasRoom(for: $0) }
  }

  func hold(after old: Hold, adding count: Int = 0) -> Hold {
    var kept: [AnyObject] = []
    return hold(after: old, adding: count, moving: 0, keeping: &kept)
  }

  /// Returns the hold that follows, with further updates that are on their way to this place.
  ///
  /// - Parameter kept: Receives the objects that must not be released under a lock.
  func hold(
    after old: Hold, adding count: Int, moving: Int, keeping kept: inout [AnyObject]
  ) -> Hold {
    // In this order, because a move ends after its update counts at the next place.
    let total = total + count
    let most = total + movingTotal + moving
    if root.isRelay {
      guard let relayed = root.relayed else { return .open }
      kept.append(relayed)
      if relayed.isHeld { return .full }
      // The subscribers decide on their own updates.
      if most == 0 { return .open }
      let subscribers = relayed.counters
      kept += subscribers as [AnyObject]
      var hold = Hold.open
      for subscriber in subscribers where hold != .full {
        let next = subscriber.hold(
          after: old, adding: total, moving: most - total, keeping: &kept)
        if next != .open { hold = next }
      }
      return hold
    }
    if old == .full { return most > limit.count / 2 ? .full : .open }
    if total >= limit.count { return .full }
    return most >= limit.count ? .provisional : .open
  }

  private func decide() {
    let now = limit.now()
    // These must not be released under the lock.
    var kept: [AnyObject] = []
    var resumptions = SenderResumptions()
    var hasBecomeFull = false
    state.withLock { state in
      while true {
        let old = hold.load(ordering: .sequentiallyConsistent)
        let new = hold(after: old, adding: 0, moving: 0, keeping: &kept)
        if new == old { return }
        hold.store(new, ordering: .sequentiallyConsistent)
        state.fullSince = new == .full ? now : nil
        hasBecomeFull = new == .full
        for (key, valve) in state.valves {
          valve.setHold(new != .open, by: self, for: key, &resumptions)
        }
      }
    }
    withExtendedLifetime(kept) { resumptions.run() }
    if hasBecomeFull { startTimeout(at: now) }
  }

  // MARK: Valves

  /// Attaches the valve of a source.
  ///
  /// Called under the lock of the source.
  func attach(_ valve: SendValve, for key: ObjectIdentifier, _ resumptions: inout SenderResumptions)
  {
    if relayed === valve { return }
    state.withLock { state in
      state.valves[key] = valve
      valve.add(
        self, for: key, isHolding: hold.load(ordering: .sequentiallyConsistent) != .open,
        &resumptions)
    }
    // After the valve knows the counter: a relay that is made later finds it there.
    if let relay = valve.relay { resumptions.join(relay, self) }
  }

  func forget(_ valve: SendValve, _ key: ObjectIdentifier) {
    state.withLock { state in
      if state.valves[key] === valve { state.valves[key] = nil }
    }
    readers.resume()
  }

  func forget(_ valve: SendValve) {
    state.withLock { state in
      state.valves = state.valves.filter { $0.value !== valve }
    }
    readers.resume()
  }

  // MARK: Readers

  /// `true` if `count` more updates fit, or if none is in flight.
  func hasRoom(for count: Int) -> Bool {
    let total = total
    let most = total + movingTotal
    return most == 0 || most <= limit.count - count
  }

  /// Resumes a reader, outside locks, once there is room or the subscription has ended.
  func whenRoom(for count: Int, _ resume: @escaping @Sendable () -> Void) {
    readers.add(for: count, resume)
    readers.resume { hasRoom(for: $0) }
  }
}
