public import MiniRex

/// The state of a store and all that happens to it: publishers keep it, tokens and effects do not.
///
/// Unchecked. `schedule`, `parked` and `deferred` are guarded by the lock of the delivery. The rest
/// belongs to the thread that has exclusive access to the state, which is not a lock: reducers, ids and
/// key paths run with it. That a thread has it, only the `schedule` says.
@usableFromInline
final class StoreStorage<State: Sendable, Action: Sendable>: @unchecked Sendable {
  @usableFromInline typealias Event = StoreEvent<State, Action>

  @usableFromInline let delivery = Delivery<Event>()
  @usableFromInline let reducer: Reducer<State, Action>
  /// Whom effects send to, without keeping it.
  @exclusivity(unchecked) private weak var store: Store<State, Action>?

  @usableFromInline @exclusivity(unchecked) var schedule = StoreSchedule()
  @exclusivity(unchecked) private var parked: [Parking] = []
  @exclusivity(unchecked) private var deferred: [ThreadID: [RunningEffect<Action>]] = [:]

  @usableFromInline @exclusivity(unchecked) var state: State
  @usableFromInline @exclusivity(unchecked) var chain = StoreChain()
  @usableFromInline @exclusivity(unchecked) var inputs = Queue<StoreInput<Action>>()
  @usableFromInline @exclusivity(unchecked) var told: [Event] = []
  @exclusivity(unchecked) private var book = EffectBook<Action>()
  /// The groups of the chain and of the input that is handled; `nil` until somebody wants them.
  @exclusivity(unchecked) private var outerGroup: EffectGroup?
  @exclusivity(unchecked) private var group: EffectGroup?
  @exclusivity(unchecked) private var opened: EffectGroup?
  @exclusivity(unchecked) private var members: [AnyKeyPath: ObservedMember] = [:]

  @usableFromInline
  init(_ state: State, reducer: @escaping Reducer<State, Action>) {
    unsafe self.state = state
    self.reducer = reducer
  }

  @usableFromInline
  func serve(_ store: Store<State, Action>) {
    unsafe self.store = store
  }
}

// MARK: - Access

extension StoreStorage {
  /// - Returns: False if the thread has the state already.
  @inlinable @inline(__always)
  func enter(on thread: ThreadID) -> Bool {
    switch delivery.lock.withLock({ _ in unsafe schedule.enter(on: thread) }) {
    case .reduce: true
    case .queue: false
    case .wait: enterLater(on: thread)
    }
  }

  @usableFromInline
  func enterLater(on thread: ThreadID) -> Bool {
    while true {
      waitUntilFree(for: thread)
      switch delivery.lock.withLock({ _ in unsafe schedule.enter(on: thread) }) {
      case .reduce: return true
      case .queue: return false
      case .wait: continue
      }
    }
  }

  /// Has the state, or stops the program if it is the thread's own reducer that asks for it.
  @inlinable @inline(__always)
  func enterOutside(on thread: ThreadID) {
    if !enter(on: thread) { Self.refuse() }
  }

  /// Like `enterOutside`, and says whether anybody may be subscribed.
  @inlinable @inline(__always)
  func enterToWrite(on thread: ThreadID) -> Bool {
    if let isTold = enterKnowingly(on: thread) { return isTold }
    Self.refuse()
  }

  /// A chain is short, and sleeping is not: the thread looks again before it sleeps.
  private static var looks: Int { 100 }

  @usableFromInline
  func waitUntilFree(for thread: ThreadID) {
    for _ in 0..<Self.looks {
      let owner = delivery.lock.withLock { _ in unsafe schedule.exclusive.owner }
      if owner == nil { return }
      if owner == thread { Self.refuse() }
    }
    let parking: Parking? = delivery.lock.withLock { _ in
      guard unsafe schedule.exclusive.wait(on: thread) == .others else { return nil }
      let parking = Parking()
      unsafe parked.append(parking)
      return parking
    }
    parking?.wait()
  }

  @usableFromInline
  static func refuse() -> Never {
    misuse(
      "A Store was used inside its own reducer or 'commit'. Use the 'inout' state that the closure "
        + "gets, or do it in an effect, after the state can be read.")
  }

  @usableFromInline
  func wake() {
    var woken: [Parking] = []
    delivery.lock.withLock { _ in unsafe swap(&woken, &parked) }
    for parking in woken { parking.open() }
  }

  /// Runs `body` under the lock while nobody has the state.
  @inlinable
  func withLock<Result>(_ body: (inout DeliveryState) -> Result) -> Result {
    while true {
      let result: Result? = delivery.lock.withLock { state in
        unsafe schedule.exclusive.isFree ? body(&state) : nil
      }
      if let result { return result }
      waitUntilFree(for: ThreadID.current)
    }
  }
}

// MARK: - Reducing

extension StoreStorage {
  @inlinable @inline(__always)
  func send(_ action: Action) -> EffectGroup? {
    let thread = ThreadID.current
    guard let isTold = enterKnowingly(on: thread) else { return queueInside(action) }
    let effect = unsafe reducer(&state, action)
    if effect.work == nil, unsafe !chain.hasMore {
      if isTold { tell(.action(action), on: thread) } else { release(on: thread) }
      return nil
    }
    return finishChain(after: action, effect, on: thread)
  }

  /// - Returns: Whether anybody may be subscribed, and nobody joins before the state is let go; `nil` if
  ///   the thread has the state already.
  @inlinable @inline(__always)
  func enterKnowingly(on thread: ThreadID) -> Bool? {
    var isTold = false
    let entry = delivery.lock.withLock { delivered in
      isTold = delivered.table.count > 0
      return unsafe schedule.enter(on: thread)
    }
    switch entry {
    case .reduce: return isTold
    case .queue: return nil
    case .wait: return enterLater(on: thread) ? true : nil
    }
  }

  /// Lets go after one commit that nobody is told.
  @inlinable @inline(__always)
  func release(on thread: ThreadID) {
    let mustWake = delivery.lock.withLock { _ in
      let number = unsafe schedule.committed + 1
      return unsafe schedule.release(committing: number)
    }
    if mustWake { wake() }
  }

  /// Lets go after one commit, and tells of it.
  ///
  /// What is copied under the lock is the state, because an event is slow to copy.
  @inlinable @inline(never)
  func tell(_ cause: CommitCause<Action>, on thread: ThreadID) {
    var number = 0
    var mustWake = false
    var turn: Turn?
    var told: State?
    delivery.lock.withLock { delivered in
      number = unsafe schedule.committed + 1
      turn = unsafe delivery.admit(
        .committed(Commit(number: number, cause: cause, state: state)), replacing: nil,
        from: thread, &delivered)
      if turn != nil { told = unsafe state }
      mustWake = unsafe schedule.release(committing: number)
    }
    if mustWake { wake() }
    if let turn, let told {
      delivery.deliver(.committed(Commit(number: number, cause: cause, state: told)), turn)
      delivery.leave()
    }
  }

  @usableFromInline
  func queueInside(_ action: Action) -> EffectGroup? {
    let group = wantedGroup()
    queue(.action(action, by: nil, group))
    return group
  }

  @inlinable
  func queue(_ input: StoreInput<Action>) {
    unsafe chain.queue()
    unsafe inputs.append(input)
  }

  @inlinable @inline(never)
  func finishChain(
    after action: Action, _ effect: Effect<Action>, on thread: ThreadID
  ) -> EffectGroup? {
    beginChain()
    tell(.action(action))
    follow(effect, nil)
    handleQueued()
    return letGo(on: thread)
  }

  /// Comes with anything but an action of no effect.
  func perform(_ input: StoreInput<Action>) {
    let thread = ThreadID.current
    guard enter(on: thread) else {
      if case .cancel(let group) = input { group.markCancelled() }
      return queue(input)
    }
    beginChain()
    handle(input)
    handleQueued()
    _ = letGo(on: thread)
  }

  @usableFromInline
  func beginChain() {
    let (committed, isTold) = delivery.lock.withLock { state in
      unsafe (schedule.committed, state.table.count > 0)
    }
    unsafe chain.begin(after: committed, isTold: isTold)
  }

  @inlinable
  func handleQueued() {
    while unsafe chain.takeNext() {
      if let input = unsafe inputs.popFirst() { handle(input) }
    }
  }

  @inlinable
  func handle(_ input: StoreInput<Action>) {
    if case .action(let action, nil, let group) = input {
      reduce(action, group)
    } else {
      handleEffect(input)
    }
  }

  @usableFromInline
  func handleEffect(_ input: StoreInput<Action>) {
    switch input {
    case .action(let action, let effect, let group):
      if effect?.isHeard ?? true { reduce(action, group) }
    case .turn(let effect):
      guard case .entered = effect.phase, case .send(let action) = effect.work,
        !effect.group.isCancelled
      else {
        unsafe book.end(effect, .cancelled)
        break
      }
      reduce(action, effect.group)
      unsafe book.end(effect, .finished)
    case .ended(let effect, let end):
      unsafe book.end(effect, end)
    case .cancel(let group):
      unsafe book.cancel(group)
    }
    collect()
  }

  @inlinable
  func reduce(_ action: Action, _ group: EffectGroup?) {
    use(group)
    let effect = unsafe reducer(&state, action)
    tell(.action(action))
    follow(effect, group)
  }

  @inlinable
  func tell(_ cause: CommitCause<Action>) {
    let number = unsafe chain.commit()
    if unsafe chain.isTold {
      unsafe told.append(.committed(Commit(number: number, cause: cause, state: state)))
    }
  }

  @inlinable
  func follow(_ effect: Effect<Action>, _ group: EffectGroup?) {
    switch effect.work {
    case nil: break
    case .send(let action): queue(.action(action, by: nil, group))
    default: enter(effect)
    }
  }

  @usableFromInline
  func use(_ group: EffectGroup?) {
    unsafe self.group = group ?? outerGroup
  }

  @usableFromInline
  func enter(_ effect: Effect<Action>) {
    let group = wantedGroup()
    unsafe book.enter(effect, group, commit: chain.number)
    collect()
  }

  /// The group of the input that is handled.
  private func wantedGroup() -> EffectGroup {
    if let group = unsafe group { return group }
    let group = EffectGroup(unsafe store)
    group.enter()
    unsafe self.group = group
    unsafe outerGroup = group
    unsafe opened = group
    return group
  }

  /// Takes over what the book has decided, in order.
  private func collect() {
    for turn in unsafe book.takeTurns() { queue(turn) }
    for (run, end, duration) in unsafe book.takeEnds() where unsafe chain.isTold {
      unsafe told.append(.ended(run, end, after: duration))
    }
  }

  /// Makes a chain readable and tells of it; then does what its effects have decided.
  @usableFromInline
  func letGo(on thread: ThreadID) -> EffectGroup? {
    if let opened = unsafe opened { unsafe book.leave(opened) }
    let group = unsafe outerGroup
    unsafe (self.group, outerGroup, opened) = (nil, nil, nil)
    var outcome = EffectOutcome<Action>()
    unsafe swap(&outcome, &book.outcome)
    var events: [Event] = []
    unsafe swap(&events, &told)
    let number = unsafe chain.number
    var mustWake = false
    var first: (Turn, Event)?
    delivery.lock.withLock { delivered in
      for event in events {
        if let turn = delivery.admit(event, replacing: nil, from: thread, &delivered) {
          first = (turn, event)
        }
      }
      mustWake = unsafe schedule.release(committing: number)
    }
    if mustWake { wake() }
    events = []
    if let (turn, event) = first {
      delivery.deliver(event, turn)
      first = nil
      delivery.leave()
    }
    for effect in outcome.stopped { effect.stop() }
    for group in outcome.completed { group.complete() }
    begin(outcome.beginnings, on: thread)
    return group
  }
}

// MARK: - Effects

extension StoreStorage {
  private func begin(_ effects: [RunningEffect<Action>], on thread: ThreadID) {
    if effects.isEmpty { return }
    let isFirst = delivery.lock.withLock { _ in
      if unsafe schedule.begin(effects.count, on: thread) { return true }
      unsafe deferred[thread, default: []] += effects
      return false
    }
    var next = isFirst ? effects : []
    while !next.isEmpty {
      for effect in next { begin(effect) }
      next = delivery.lock.withLock { _ in
        unsafe schedule.nextBeginnings(on: thread) > 0
          ? deferred.removeValue(forKey: thread) ?? [] : []
      }
    }
  }

  private func begin(_ effect: RunningEffect<Action>) {
    guard let store = unsafe store else { return }
    let send: @Sendable (Action) -> Void = { [weak store] action in
      store?.perform(.action(action, by: effect, effect.group))
    }
    switch effect.work {
    case .run(let work):
      effect.attach(
        Task { [weak store] in
          guard store?.begins(effect) == true else { return }
          let end: EffectEnd
          do {
            try await work(send)
            end = .finished
          } catch {
            end = .failed(error)
          }
          store?.perform(.ended(effect, end))
        })
    case .publisher(let subscribe):
      guard begins(effect) else { return }
      effect.attach(
        subscribe(send) { [weak store] in store?.perform(.ended(effect, .finished)) })
    default: break
    }
  }

  /// Tells that an effect begins; false if it was cancelled before.
  func begins(_ effect: RunningEffect<Action>) -> Bool {
    let thread = ThreadID.current
    enterOutside(on: thread)
    beginChain()
    let begins = unsafe book.begin(effect)
    if begins, unsafe chain.isTold { unsafe told.append(.began(effect.run)) }
    _ = letGo(on: thread)
    return begins
  }

  /// The store has gone, and nobody is inside.
  @usableFromInline
  func end() {
    delivery.end()
    let thread = ThreadID.current
    enterOutside(on: thread)
    beginChain()
    unsafe book.cancelAll()
    var observed: [AnyKeyPath: ObservedMember] = [:]
    unsafe swap(&observed, &members)
    _ = letGo(on: thread)
  }

  @usableFromInline
  var effectCount: Int {
    withAccess { unsafe book.running.count }
  }

  /// True if nothing is remembered of effects.
  package var hasForgottenEffects: Bool {
    withAccess { unsafe book.isEmpty }
  }

  /// Runs `body`, which is the package's, with exclusive access, and changes no state.
  private func withAccess<Result>(_ body: () -> Result) -> Result {
    let thread = ThreadID.current
    enterOutside(on: thread)
    let result = body()
    let mustWake = delivery.lock.withLock { _ in
      let committed = unsafe schedule.committed
      return unsafe schedule.release(committing: committed)
    }
    if mustWake { wake() }
    return result
  }
}

// MARK: - Reading

extension StoreStorage {
  @inlinable
  var current: State {
    withLock { _ in unsafe state }
  }

  /// Subscribes to the events of what is committed from now on.
  @usableFromInline
  func subscribe(_ receive: @escaping @Sendable (Event) -> Void) -> Subscription {
    let token = Subscription(delivery, place: Subscription.nowhere)
    let hasJoined = withLock { delivery.join(token, receive, &$0) }
    return hasJoined ? token : .ended
  }

  /// Subscribes to a part: the present one, then each that differs from the one before.
  @inlinable
  func subscribe<Part: Sendable>(
    to part: @escaping @Sendable (State) -> Part, _ changeTest: ChangeTest<Part>,
    _ receive: @escaping @Sendable (Part) -> Void
  ) -> Subscription {
    let thread = ThreadID.current
    let token = Subscription(delivery, place: Subscription.nowhere)
    let receive = skippingDuplicates(changeTest, receive)
    let callback: @Sendable (Event) -> Void = { event in
      if case .committed(let commit) = event { receive(part(commit.state)) }
    }
    let (first, call) = withLock { delivered in
      let first = unsafe Event.committed(
        Commit(number: schedule.committed, cause: .whole, state: state))
      return (
        first, delivery.join(token, callback, first: first, from: thread, &delivered)
      )
    }
    return delivery.makeFirstCall(call, callback, first) ? token : .ended
  }

  /// Reads a member, of which Observation then hears once it has changed.
  @usableFromInline
  func observe<Part>(_ part: KeyPath<State, Part>) -> Part {
    let (value, member) = withAccess {
      let value = unsafe state[keyPath: part]
      if let member = unsafe members[part] { return (value, member) }
      let member = ObservedMember()
      unsafe members[part] = member
      join(member, part, value)
      return (value, member)
    }
    member.wasRead()
    return value
  }

  /// With exclusive access: who is asked to forget the member is the first change of it.
  private func join<Part>(_ member: ObservedMember, _ part: KeyPath<State, Part>, _ value: Part) {
    let token = Subscription(delivery, place: Subscription.nowhere)
    let changeTest = ChangeTest<Part>()
    let read = SerialState((part: part, value: value, hasChanged: false))
    let hasJoined = delivery.lock.withLock { delivered in
      delivery.join(
        token,
        { [weak self, member] event in
          guard case .committed(let commit) = event, !read.value.hasChanged,
            changeTest(read.value.value, commit.state[keyPath: read.value.part])
          else { return }
          read.value.hasChanged = true
          self?.forget(member, read.value.part)
          member.hasChanged()
        }, &delivered)
    }
    if hasJoined { member.attach(token) }
  }

  private func forget(_ member: ObservedMember, _ part: AnyKeyPath) {
    withAccess {
      if unsafe members[part] === member { unsafe members[part] = nil }
    }
    member.invalidate()
  }
}
