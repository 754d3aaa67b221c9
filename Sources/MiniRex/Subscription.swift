internal import Synchronization

/// A subscription.
///
/// Releasing its last reference cancels it.
///
/// Retain it for as long as you want to receive updates. It retains neither the source nor a value
/// of the source.
public final class Subscription: Sendable {
  /// A subscription that has ended, as `subscribe` returns it for a source that has finished.
  public static let ended = Subscription(EndedHost(), place: Subscription.nowhere)

  let host: any SubscriptionHost

  /// The address of the subscription's slot in the table of the source.
  ///
  /// Guarded by the lock of the source. A read without the lock finds a completed cancellation, but
  /// not one in progress.
  let place: Atomic<UInt>

  /// The place of a subscription that has ended, or that has not joined its source yet.
  static var nowhere: UInt { 0 }
  /// The constant place of a subscription whose host has no slot table.
  ///
  /// The host knows whether the subscription has ended.
  static var elsewhere: UInt { 1 }

  init(_ host: any SubscriptionHost, place: UInt = Subscription.elsewhere) {
    self.host = host
    self.place = Atomic(place)
  }

  /// Creates a subscription that has not joined its source yet.
  @usableFromInline
  package convenience init(to source: AnyDelivery) {
    self.init(source, place: Subscription.nowhere)
  }

  /// Creates a subscription from a closure that cancels it.
  ///
  /// - Parameter cancel: A closure that runs once, on the thread that cancels the subscription, and
  ///   is then released.
  public convenience init(_ cancel: @escaping @Sendable () -> Void) {
    self.init(ClosureSubscription(cancel))
  }

  /// Creates a subscription that is active while `gate` is active.
  ///
  /// Canceling it cancels `gate`, then the `inputs`.
  @usableFromInline
  package convenience init(gate: Subscription, inputs: [Subscription]) {
    self.init(GatedInputs(gate: gate, inputs: inputs))
  }

  deinit {
    invalidate()
  }

  /// A Boolean value that indicates whether the subscription is active: not canceled, and its
  /// source not finished.
  public var isSubscribed: Bool { host.isSubscribed(self) }

  /// The number of updates queued between the source and the callback.
  ///
  /// The sum covers operators with several inputs or with a clock, `flatMap(limit:)`, and dispatch
  /// to a queue or an actor. It excludes the queue of the source, the queue behind `share()`, and
  /// updates that an operator holds back on purpose, as `delay` and `chunked` do.
  public var pendingUpdates: Int { bufferCounts.pending }

  /// The number of updates that the buffering policies between the source and the callback have
  /// dropped.
  public var droppedCount: Int { bufferCounts.dropped }

  var bufferCounts: BufferCounts { host.bufferCounts(of: self) }

  /// Cancels the subscription.
  ///
  /// No callback of it starts on this thread afterward.
  ///
  /// On another thread, one in-flight callback may still finish. The callback and its captures are
  /// released before this method returns, with two exceptions. During a turn of the source, they
  /// are released by the end of the turn. In a long chain of subscriptions that own or cancel each
  /// other, the inner ones are canceled and released by the end of the chain, before the outer
  /// call returns. Amortized O(1) for any number of subscribers. It never blocks, and it is
  /// idempotent.
  public func invalidate() {
    if place.load(ordering: .acquiring) != Subscription.nowhere { host.end(self) }
  }

  /// Cancels the subscription, and returns when no callback of it is running.
  ///
  /// It blocks at most for the turn in progress on another thread. In a callback of the same
  /// source, it returns immediately. Two callbacks that wait for each other's subscriptions
  /// deadlock. In asynchronous code, use the asynchronous overload. Calls dispatched to a queue or
  /// an actor, and subscriptions created with ``init(_:)``, are canceled without waiting. For a
  /// publisher with several inputs, such as `merge`, a transform on the way to the callback may
  /// still run.
  @available(
    *, noasync,
    message: "Use 'await invalidateAndWait()'. In top-level code, call it in a function."
  )
  public func invalidateAndWait() {
    let group = WaitGroup(awaitingWork: false, requester: nil)
    group.end(self)
    group.wait()
  }

  /// Cancels the subscription, and returns when no callback of it is running and canceled work has
  /// returned.
  ///
  /// It suspends instead of blocking the thread. Top-level code calls it in an asynchronous
  /// function, because Swift 6.3 selects the synchronous overload there. If this was the last
  /// subscription of a task, its work has returned and finished its cleanup, through any chain of
  /// operators. Work that ignores cancellation is awaited until it returns.
  ///
  /// It does not wait for work that other subscribers use, for work that keeps running, or for a
  /// callback of a subscription created with ``init(_:)``. A call from the work itself, or from
  /// code that the work started, does not wait for that work. Two runs of work that each wait for
  /// the other deadlock. Several calls for one subscription may overlap, and all of them wait.
  ///
  /// After ``invalidate()``, it still waits for the work of an upstream task. It no longer waits
  /// for work that the release of the callback canceled, as for a publisher that `flatMapLatest`
  /// created: call it instead of `invalidate()`. Without pending work it does not suspend.
  public func invalidateAndWait() async {
    await WaitGroup.run(on: self)
  }

  /// Returns after the callback has run for every update that was dispatched to it before the call.
  ///
  /// It covers the dispatches to queues and actors on the path to the callback, and the buffer of an
  /// asynchronous callback, upstream first. Updates that a policy drops do not count. It returns
  /// immediately without such a dispatch, and after ``invalidate()``. The queue of the source is not
  /// covered: await its `delivered()` before. A call in the callback itself waits for that call, and
  /// never returns. It returns early if its Swift task is canceled.
  public func drained() async {
    var drains: [Drain] = []
    host.collectDrains(of: self, into: &drains)
    for drain in drains { await drain() }
  }

  /// Stores the subscription in a bag, which retains it until it ends or the bag is released.
  public func store(in bag: SubscriptionBag) {
    bag.store(self)
  }

  /// Keeps the subscription active until its source finishes.
  ///
  /// The library retains it, so you do not need to. ``invalidate()`` still cancels it.
  public func detached() {
    SubscriptionBag.detached.store(self)
  }

  package var slot: Slot? {
    unsafe UnsafeMutableRawPointer(bitPattern: place.load(ordering: .acquiring)).map(Slot.init)
  }

  /// The address at which the slot writes its own address.
  ///
  /// The slot writes there, not through a reference, because the subscription may be in `deinit`. A
  /// reader that finds a completed cancellation needs no lock.
  var placeAddress: UnsafeMutableRawPointer {
    unsafe withUnsafePointer(to: place) { unsafe UnsafeMutableRawPointer(mutating: $0) }
  }
}
