public import Synchronization

/// A token that stands for a subscription, and ends it when it goes.
///
/// Keep it for as long as you want to be called: the last reference that is dropped ends the
/// subscription like ``invalidate()``. It keeps alive neither the source nor a value of it.
public final class Subscription: Sendable {
  /// A subscription that has ended: what you get from a source that is gone.
  public static let ended = Subscription(SubscriptionHost(), place: Subscription.nowhere)

  @usableFromInline let host: SubscriptionHost

  /// The address of its place in the table of the source; guarded by the lock of the source, so
  /// that a look without the lock finds an end that is over, but not one that is under way.
  @usableFromInline let place: Atomic<UInt>

  /// The place of a token that has ended, or not joined yet.
  @inlinable package static var nowhere: UInt { 0 }
  /// The place of a token that does not stand in the table of a source.
  @inlinable package static var elsewhere: UInt { 1 }

  @inlinable
  package init(_ host: SubscriptionHost, place: UInt = Subscription.elsewhere) {
    self.host = host
    self.place = Atomic(place)
  }

  /// Makes a token for something of your own.
  ///
  /// - Parameter cancel: Called once, when the subscription ends, on the thread that ends it, and
  ///   released then.
  public convenience init(_ cancel: @escaping @Sendable () -> Void) {
    self.init(CancelledByClosure(cancel))
  }

  /// Is subscribed for as long as `gate` is, and ends the `inputs` after it.
  @usableFromInline
  package convenience init(gate: Subscription, inputs: [Subscription]) {
    self.init(GatedInputs(gate: gate, inputs: inputs))
  }

  deinit {
    invalidate()
  }

  /// False once the subscription has ended, whether you or its source ended it.
  public var isSubscribed: Bool { host.isSubscribed(self) }

  /// How many updates wait for their turn between the source and the callback.
  ///
  /// That is where operators with several inputs or with a clock bring them into one order, where
  /// `flatMap(limit:)` keeps them, and where they wait for a hop to a queue or an actor; it is the
  /// sum of all such places. Not counted is what waits in the source itself or behind `share()`, and
  /// what an operator holds back until its time has come, as `delay` and `chunked` do.
  public var pendingUpdates: Int { bufferCounts.pending }

  /// How many updates hops have dropped on the way, because their policies left no more room.
  public var droppedCount: Int { bufferCounts.dropped }

  var bufferCounts: BufferCounts { host.bufferCounts(of: self) }

  /// Ends the subscription: no callback of it starts on this thread any more.
  ///
  /// On another thread the one callback that has been chosen already may still run. The callback
  /// and what it has captured are released before this returns, or, while a turn of the source is
  /// in progress, by the end of that turn, or, while a long chain of callbacks that own each
  /// other's tokens is released, by the end of that. O(1) amortised, however many others are
  /// subscribed; it waits for nothing. Ending twice does nothing.
  public func invalidate() {
    if place.load(ordering: .acquiring) != Subscription.nowhere { host.end(self) }
  }

  /// Ends the subscription, and returns when no callback of it runs any more.
  ///
  /// It waits at most for the turn in progress on another thread; called by a callback of the same
  /// source, it returns at once. Two callbacks that wait for each other's subscriptions wait for
  /// ever. In async code use ``invalidateAndDrain()``. Calls that have hopped to a queue or an
  /// actor, and tokens made by ``init(_:)``, only stop. Of a publisher that is made of several, as
  /// `merge` makes one, a transform on the way to the callback may still run.
  @available(*, noasync, message: "use 'await invalidateAndDrain()'")
  public func invalidateAndWait() {
    let drain = Drain(awaitingWork: false, asker: nil)
    drain.end(self)
    drain.wait()
  }

  /// Ends the subscription, and returns when no callback of it runs any more, and work that has
  /// been cancelled by that has come back.
  ///
  /// It is like ``invalidateAndWait()``, but does not hold the thread. If this was the last
  /// subscription of a task, its work has then returned, and what it cleans up is cleaned up,
  /// whatever operators stand between it and this token. Work that others want, or that keeps
  /// running, is not waited for; nor is a callback of yours that a token made by ``init(_:)``
  /// stands for. Work that takes no notice of being cancelled is waited for until it returns.
  /// Called by the work itself, or by what that has started, it does not wait for that work. Two
  /// works that each drain what the other one does wait for ever. Several may drain one token, and
  /// all of them wait. After ``invalidate()``, it still waits for the work of a task that has led to
  /// this token, but no more for what was left by the release of its callback, as a publisher that
  /// `flatMapLatest` has made is: so call it instead. With nothing to wait for it does not suspend.
  public func invalidateAndDrain() async {
    await Drain.run(on: self)
  }

  /// Gives the token to a bag, which keeps it until it ends or the bag does.
  public func store(in bag: SubscriptionBag) {
    bag.store(self)
  }

  /// Lets the subscription live until its source ends.
  ///
  /// The library keeps the token, so you need not; if you do, ``invalidate()`` still ends it.
  public func detached() {
    SubscriptionBag.detached.store(self)
  }

  package var slot: Slot? {
    unsafe UnsafeMutableRawPointer(bitPattern: place.load(ordering: .acquiring)).map(Slot.init)
  }

  /// Where the slot writes its own address.
  ///
  /// It writes there, rather than to the token, because the token may be going: whoever finds that
  /// its end is over does not wait for the lock.
  var placeAddress: UnsafeMutableRawPointer {
    unsafe withUnsafePointer(to: place) { unsafe UnsafeMutableRawPointer(mutating: $0) }
  }
}
