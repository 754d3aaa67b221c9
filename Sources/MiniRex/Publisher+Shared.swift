extension Publisher where Kind == BroadcasterKind {
  /// Makes a broadcaster of anything that can be started and stopped, once for all subscribers.
  ///
  /// ```swift
  /// let ticks = Broadcaster<Date>.shared { receive in
  ///   let timer = start(every: 1) { receive(Date()) }
  ///   return Subscription { timer.stop() }
  /// }
  /// ```
  ///
  /// It does what `Broadcaster { … }.share()` does, for less than half of the memory, and is a source
  /// of its own: what follows from it is told together, and who subscribes inside a callback does not
  /// get what waits already.
  ///
  /// What has been started goes on for as long as a callback is kept. So where the last subscriber
  /// leaves while any thread is calling, that thread stops it, inside its call of `receive`: the
  /// closure of your token must not wait for the thread or the queue that calls. The next start may
  /// come before that, or while that closure runs: what must not be open twice has to wait itself.
  ///
  /// - Parameter start: Called by the first subscriber, and again by whoever comes after the last has
  ///   left. Call `receive` from any threads: the calls are brought into one order. When the last
  ///   reference to `receive` goes, the subscribers hear of the end, and the token that you have
  ///   returned is ended before the last of them does; let it go, as you call it, without a lock that
  ///   the closure of your token takes. That token is also ended when the last subscriber's is; if it
  ///   ends by itself, nothing else does.
  @inlinable
  public static func shared(
    _ start: @escaping @Sendable (_ receive: @escaping @Sendable (Update) -> Void) -> Subscription
  ) -> Broadcaster<Update> {
    let runs = SharedRuns(start)
    return Publisher(current: { nil }) { runs.subscribe($0) }
  }
}
