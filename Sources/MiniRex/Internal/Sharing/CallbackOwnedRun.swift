internal import Synchronization

/// A run that several callbacks share, and that stops when the last of them is released.
///
/// Only the callbacks retain it for long, so no count is needed. It is not generic, so that a valve
/// can name it. Waiting threads are stored elsewhere, because they are rare.
@usableFromInline
final class CallbackOwnedRun: Sendable {
  @usableFromInline let delivery: AnyDelivery
  private let starter = ThreadID.current
  /// Stops the run.
  ///
  /// `nil` until the start has returned.
  private let token = AtomicLazyReference<Subscription>()

  @usableFromInline
  init(_ delivery: AnyDelivery) {
    self.delivery = delivery
    delivery.setOwner(self)
  }

  deinit {
    token.load()?.leave()
  }

  /// Marks the start as returned.
  @usableFromInline
  func attach(_ token: Subscription) {
    _ = self.token.storeIfNil(token)
    waiting.resumeWaiters { ($0.removeValue(forKey: ObjectIdentifier(self)) ?? [], ()) }
  }

  /// Passes the holds of the subscribers on to the upstream subscription, once the start has
  /// returned.
  func passFlow(of valve: SendValve) {
    guard let token = token.load(), let relay = valve.makeRelay() else { return }
    token.host.attach(relay, of: token)
    relay.check()
  }

  @usableFromInline
  func waitUntilStarted() {
    if token.load() != nil { return }
    waiting.waitForStart { waiting, thread in
      if starter == thread || token.load() != nil { return nil }
      return StartWaiter(
        thread, waitingFor: starter, in: &waiting[ObjectIdentifier(self), default: []])
    }
  }
}

/// The threads that wait for the start of a run, by run.
private let waiting = Lock<[ObjectIdentifier: [StartWaiter]]>([:])

/// The inlet of a run.
///
/// Releasing it ends the run.
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
    delivery.valve?.end()
  }
}

/// Subscribes callbacks to the current run, or to a new run if there is none.
@usableFromInline
final class CallbackOwnedRuns<Update: Sendable>: Sendable {
  @usableFromInline
  typealias Start =
    @Sendable (_ receive: @escaping @Sendable (Update) -> Void) -> Subscription

  @usableFromInline
  struct Current: Sendable {
    @usableFromInline weak var run: CallbackOwnedRun?

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
    var over: CallbackOwnedRun?
    while true {
      let (run, isNew) = run(after: over)
      let delivery = unsafe unsafeDowncast(run.delivery, to: Delivery<Update>.self)
      // The token has ended if the run is over and will not emit.
      let token = delivery.subscribe { update in
        withExtendedLifetime(run) { receive(update) }
      }
      if isNew {
        let inlet = RunInlet(delivery)
        run.attach(start { inlet.delivery.send($0) })
        delivery.hasStarted(run)
        return token
      }
      if token !== Subscription.ended {
        run.waitUntilStarted()
        return token
      }
      over = run
    }
  }

  /// Returns the current run, or begins one if there is none or it is over.
  ///
  /// - Parameter over: A run that is over. The caller retains it, so that it is not released under
  ///   the lock.
  @inlinable
  func run(after over: CallbackOwnedRun?) -> (CallbackOwnedRun, isNew: Bool) {
    current.withLock { current in
      if let run = current.run, run !== over { return (run, false) }
      let run = CallbackOwnedRun(Delivery<Update>(isOpen: true))
      current.run = run
      return (run, true)
    }
  }
}
