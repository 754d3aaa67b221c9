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
  private enum Hold: UInt8, AtomicRepresentable {
    case open
    /// Ends when the moving updates are counted again or filtered out. Until then, they may fill the
    /// subscriber.
    case provisional
    /// Ends at half of the limit.
    case full
  }

  private struct State {
    var valves: [ObjectIdentifier: SendValve] = [:]
    var outers: [WeakCounter] = []
    /// The instant of the hold, by the clock of the limit.
    var fullSince: Duration?
    var takenAt = Duration.zero
    var alarm: Alarm?
    /// Cancels the subscriber, and lets it finish with its queue.
    var timeOut: OnceClosure?
  }

  let limit: SuspendingLimit
  let place: CodePlace?
  /// A counter further downstream, whose updates also count.
  private let inner: InFlightCounter?
  /// The valve whose holds a relay passes on.
  private weak let relayed: SendValve?
  let isRelay: Bool

  private let own = Atomic(0)
  /// The updates on their way from one place to the next.
  private let moving = Atomic(0)
  private let hold = Atomic(Hold.open)
  private let hasOuters = Atomic(false)
  private let hasTimedOutFlag = Atomic(false)
  /// The task of the loop, or 0.
  private let taskOfLoop = Atomic<UInt>(0)
  private let state = Lock(State())
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
  private init(outerOf inner: InFlightCounter) {
    limit = inner.limit
    place = inner.place
    self.inner = inner
    relayed = nil
    isRelay = false
  }

  deinit {
    state.withLock { $0.alarm }?.end()
  }

  func makeOuter() -> InFlightCounter {
    let outer = InFlightCounter(outerOf: self)
    var known: [InFlightCounter] = []
    state.withLock { state in
      known = state.outers.compactMap(\.counter)
      state.outers = (known + [outer]).map(WeakCounter.init)
    }
    hasOuters.store(true, ordering: .sequentiallyConsistent)
    outer.check()
    return withExtendedLifetime(known) { outer }
  }

  /// The counter of the subscriber.
  var root: InFlightCounter { inner?.root ?? self }

  /// The valve whose holds it passes on, if it belongs to a shared subscription.
  var relayedValve: SendValve? { relayed }

  var total: Int { own.load(ordering: .sequentiallyConsistent) + (inner?.total ?? 0) }

  private var movingTotal: Int {
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
    let hold = hold.load(ordering: .sequentiallyConsistent)
    if next(after: hold) != hold { decide() }
    if hasOuters.load(ordering: .sequentiallyConsistent) {
      for outer in outers { outer.check() }
    }
    readers.resume { hasRoom(for: $0) }
  }

  private var outers: [InFlightCounter] {
    state.withLock { $0.outers.compactMap(\.counter) }
  }

  private func next(after hold: Hold) -> Hold {
    if isRelay { return relayed?.isHeld ?? false ? .full : .open }
    // In this order, because a move ends after its update counts at the next place.
    let total = total
    let most = total + movingTotal
    if hold == .full { return most > limit.count / 2 ? .full : .open }
    if total >= limit.count { return .full }
    return most >= limit.count ? .provisional : .open
  }

  private func decide() {
    let now = isRelay ? .zero : limit.now()
    // A valve must not be released under the lock.
    let relayed = relayed
    var resumptions = SenderResumptions()
    var hasBecomeFull = false
    state.withLock { state in
      while true {
        let old = hold.load(ordering: .sequentiallyConsistent)
        let new = next(after: old)
        if new == old { return }
        hold.store(new, ordering: .sequentiallyConsistent)
        state.fullSince = new == .full ? now : nil
        hasBecomeFull = new == .full
        for (key, valve) in state.valves {
          valve.setHold(new != .open, by: self, for: key, &resumptions)
        }
      }
    }
    withExtendedLifetime(relayed) { resumptions.run() }
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

  /// The counters of the subscribers behind it.
  var subscribers: [InFlightCounter] {
    isRelay ? relayed?.counters.flatMap(\.subscribers) ?? [] : [self]
  }

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

  // MARK: Stalls

  var slowSubscriber: SlowSubscriber? {
    guard let since = state.withLock({ $0.fullSince }) else { return nil }
    return SlowSubscriber(
      place: root.place ?? CodePlace(fileID: "", line: 0), pendingUpdates: total,
      duration: limit.now() - since)
  }

  var hasTimedOut: Bool { hasTimedOutFlag.load(ordering: .acquiring) }

  /// - Parameter timeOut: A closure that cancels the subscriber and lets it finish its queue.
  func onTimeout(_ timeOut: @escaping @Sendable () -> Void) {
    if limit.timeout == nil { return }
    state.withLock { $0.timeOut = OnceClosure(timeOut) }
  }

  private func startTimeout(at now: Duration) {
    guard let timeout = limit.timeout else { return }
    let alarm = state.withLock { state in
      if let alarm = state.alarm { return alarm }
      let alarm = Alarm(limit.timekeeper) { [weak self] in self?.ring(at: $0) }
      state.alarm = alarm
      return alarm
    }
    alarm.set(to: now + timeout, from: now)
  }

  private func ring(at instant: Duration) {
    guard let timeout = limit.timeout else { return }
    let takenAt = root.state.withLock { $0.takenAt }
    let (deadline, alarm) = state.withLock { state in
      (state.fullSince.map { max($0, takenAt) + timeout }, state.alarm)
    }
    guard let deadline else { return }
    if deadline > instant {
      alarm?.set(to: deadline, from: instant)
    } else {
      root.timeOut()
    }
  }

  private func timeOut() {
    guard let timeOut = state.withLock({ $0.timeOut.take() }) else { return }
    hasTimedOutFlag.store(true, ordering: .releasing)
    timeOut()
  }
}

private final class WeakCounter: Sendable {
  weak let counter: InFlightCounter?

  init(_ counter: InFlightCounter) {
    self.counter = counter
  }
}
