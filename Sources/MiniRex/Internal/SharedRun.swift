internal import Synchronization

/// Something that is started once for several callbacks, and stopped when the last of them is released.
///
/// Each callback keeps it, and nothing else does for long; so nobody counts. Unchecked like its
/// superclass; what it adds is constant.
@usableFromInline
final class SharedRun<Update: Sendable>: RunStart, @unchecked Sendable {
  @usableFromInline let delivery = Delivery<Update>(isOpen: true)

  @inlinable
  override init() {}

  /// `.ended` if it is over, and will call nobody any more.
  @inlinable
  func subscribe(_ receive: @escaping @Sendable (Update) -> Void) -> Subscription {
    delivery.subscribe { update in
      withExtendedLifetime(self) { receive(update) }
    }
  }
}

/// What has been started, or is being; not generic, since it calls nobody with an update.
///
/// Unchecked, because a class that is inherited from cannot be anything else: all of it is constant,
/// or atomic. Who waits for it is kept elsewhere, since there is hardly ever anybody.
@usableFromInline
class RunStart: @unchecked Sendable {
  private let starter = ThreadID.current
  /// Stops what has been started; `nil` until the start has returned.
  private let token = AtomicLazyReference<Subscription>()

  @usableFromInline
  init() {}

  deinit {
    token.load()?.leave()
  }

  /// The start has returned.
  @usableFromInline
  func attach(_ token: Subscription) {
    _ = self.token.storeIfNil(token)
    let joiners = waiting.withLock { waiting in
      let joiners = waiting.removeValue(forKey: ObjectIdentifier(self)) ?? []
      joiners.forgetWaiting()
      return joiners
    }
    for joiner in joiners { joiner.parking.open() }
  }

  /// Returns when it has started, so that whoever joins while another thread starts it misses nothing
  /// that is sent afterwards.
  ///
  /// What the start itself calls does not wait, nor does a thread for which the starting one waits.
  @usableFromInline
  func waitUntilStarted() {
    let thread = ThreadID.current
    if starter == thread || token.load() != nil { return }
    let joiner: Joiner? = waiting.withLock { waiting in
      guard token.load() == nil, let joiner = Joiner(thread: thread, waitingFor: starter) else {
        return nil
      }
      waiting[ObjectIdentifier(self), default: []].append(joiner)
      return joiner
    }
    joiner?.parking.wait()
  }
}

/// Threads that wait until a run has started, by the run.
private let waiting = Lock<[ObjectIdentifier: [Joiner]]>([:])

/// What is started calls with this; when it goes, the run is over.
@usableFromInline
final class RunInlet<Update: Sendable>: Sendable {
  @usableFromInline let delivery: Delivery<Update>

  @inlinable
  init(_ delivery: Delivery<Update>) {
    self.delivery = delivery
  }

  @inlinable
  deinit {
    delivery.end()
  }
}

/// Finds the run that is there, or begins one.
@usableFromInline
final class SharedRuns<Update: Sendable>: Sendable {
  @usableFromInline
  typealias Start =
    @Sendable (_ receive: @escaping @Sendable (Update) -> Void) -> Subscription

  @usableFromInline
  struct Current: Sendable {
    @usableFromInline weak var run: SharedRun<Update>?

    @inlinable init() {}
  }

  @usableFromInline let start: Start
  @usableFromInline let current = Lock(Current())

  @inlinable
  init(_ start: @escaping Start) {
    self.start = start
  }

  @inlinable
  func subscribe(_ receive: @escaping @Sendable (Update) -> Void) -> Subscription {
    var over: SharedRun<Update>?
    while true {
      let (run, isNew) = run(after: over)
      let token = run.subscribe(receive)
      if isNew {
        let inlet = RunInlet(run.delivery)
        run.attach(start { inlet.delivery.send($0) })
        return token
      }
      if token !== Subscription.ended {
        run.waitUntilStarted()
        return token
      }
      over = run
    }
  }

  /// - Parameter over: One that is no longer of use; the caller keeps it, so that it does not go under
  ///   the lock.
  @inlinable
  func run(after over: SharedRun<Update>?) -> (SharedRun<Update>, isNew: Bool) {
    current.withLock { current in
      if let run = current.run, run !== over { return (run, false) }
      let run = SharedRun<Update>()
      current.run = run
      return (run, true)
    }
  }
}
