/// A resource without its public object.
///
/// Publishers and loads retain it, subscriptions do not.
///
/// Unchecked: the lock of the delivery guards every property that changes. Loads, callbacks, and the
/// clock run outside it, and the parts of a replaced state are released outside it.
@usableFromInline
final class ResourceCore<Value: Sendable, Failure: Error>: @unchecked Sendable {
  @usableFromInline typealias State = Resource<Value, Failure>.State
  struct Load: Sendable {
    let call: @Sendable () async throws(Failure) -> Value
  }

  typealias Finish = @Sendable (Result<Value, Failure>) -> Void

  @usableFromInline let delivery: Delivery<State>
  @usableFromInline let timekeeper: Timekeeper
  let lineage: Lineage?
  let load: ChainLink<Load>
  let policy: LoadPolicy<Failure>
  /// Runs after the resource has become idle.
  let onIdle: @Sendable () -> Void
  let alarm: Alarm

  @usableFromInline @exclusivity(unchecked) var schedule: ResourceSchedule
  @usableFromInline @exclusivity(unchecked) var state: State
  @exclusivity(unchecked) var run: LoadRun?
  @exclusivity(unchecked) var waiters: [Int: Finish] = [:]
  /// The last number of a waiter, a value, or a failure.
  @exclusivity(unchecked) var lastNumber = 0
  /// Changes with the instant of the next wake.
  @exclusivity(unchecked) var wakeNumber = 0

  init(
    _ policy: LoadPolicy<Failure>, _ timekeeper: Timekeeper, _ lineage: Lineage?,
    onIdle: @escaping @Sendable () -> Void = {},
    _ load: @escaping @Sendable () async throws(Failure) -> Value
  ) {
    let changeTest = ChangeTest<Value?>()
    delivery = Delivery(
      skippingDuplicates: ChangeTest({ $1.differs(from: $0, by: changeTest) }))
    self.timekeeper = timekeeper
    self.lineage = lineage
    self.policy = policy
    self.load = ChainLink(Load(call: load))
    self.onIdle = onIdle
    unsafe schedule = ResourceSchedule(
      staleAfter: policy.staleAfter, refreshEvery: policy.interval)
    unsafe state = State()
    alarm = Alarm(timekeeper)
    alarm.onRing { [weak self] in self?.wake(at: $0) }
    lineage?.resource?.follow { [weak self] in self?.age }
  }

  /// The value may own the next resource of a chain, as the closure may.
  deinit {
    var last: State? = unsafe state
    unsafe state = State()
    ReleaseChain.release(&last)
  }

  /// The value, or `nil` if it is stale or missing.
  @inlinable
  var freshValue: Value? {
    let now = timekeeper.now()
    return delivery.lock.withLock { _ in
      unsafe schedule.isFresh(at: now) ? state.value : nil
    }
  }

  /// The present state.
  ///
  /// Without subscribers, no timer marks a value as stale.
  var current: State {
    let now = timekeeper.now()
    let (state, isStale) = delivery.lock.withLock { _ in
      unsafe (self.state, schedule.hasValue && !schedule.isFresh(at: now))
    }
    return isStale && !state.isStale ? state.stale : state
  }

  var age: Duration? {
    let now = timekeeper.now()
    return delivery.lock.withLock { _ in unsafe schedule.age(at: now) }
  }

  var waiterCount: Int { delivery.lock.withLock { _ in unsafe schedule.waiterCount } }

  /// `true` if no subscriber, waiter, or load needs the resource.
  ///
  /// Called under the lock of a family.
  var isIdle: Bool { delivery.lock.withLock { _ in unsafe schedule.isIdle } }
}
