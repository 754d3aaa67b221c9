extension Publisher where Kind: StreamKind {
  /// Returns a publisher with one upstream subscription for all subscribers.
  ///
  /// ```swift
  /// let ticks = Broadcaster<Date> { receive in
  ///   let timer = start(every: 1) { receive(Date()) }
  ///   return Subscription { timer.stop() }
  /// }.share()
  /// ```
  ///
  /// ![share runs upstream operators once](share.svg)
  ///
  /// It keeps the kind. The first subscriber subscribes upstream, inside `subscribe`, and the last
  /// one cancels. All state is then released, and the next subscriber starts from the beginning. A
  /// late subscriber of a published value receives the last delivered value, inside `subscribe`, or
  /// from the thread that is delivering. A late subscriber of a broadcaster receives the following
  /// updates, and the updates queued upstream. A subscriber that joins while another thread
  /// connects waits for it. After the publisher finishes, the next subscriber starts from the
  /// beginning as well. A publisher that subscribes to itself always has a subscriber, and is never
  /// released.
  public func share() -> Publisher<Update, Kind> {
    let work = SharedWork<Update>(remembersProgress: Kind.hasCurrentValue) { inlet in
      inlet.follow(follow { inlet.report($0) })
    }
    return Publisher(of: self, value: .untracked { work.latest ?? readCurrent() }) {
      work.subscribe($0)
    }
  }

  /// Returns a publisher with one upstream subscription for all subscribers, which outlasts the last
  /// subscriber by a duration.
  ///
  /// ```swift
  /// let position = sensor.share(for: .seconds(5), clock: clock)
  /// ```
  ///
  /// A subscriber that joins within the duration continues the run, so closing one view and opening
  /// another does not restart the sensor. A late subscriber of a published value receives the latest
  /// value, even if it arrived without a subscriber. Releasing the publisher does not end the
  /// duration early. The upstream subscription is canceled where the clock runs its calls, and
  /// `invalidateAndWait()` does not wait for that. See ``share()`` for the rest.
  ///
  /// - Parameters:
  ///   - duration: The time after the last cancellation. With 0, it is ``share()``. Traps if negative.
  ///   - clock: The only source of time.
  public func share(
    for duration: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> Publisher<Update, Kind> {
    let duration = clampedWait(duration, of: "share")
    if duration == .zero { return share() }
    let timekeeper = Timekeeper(clock)
    let work = SharedWork<Update>(
      remembersProgress: Kind.hasCurrentValue, lingering: { timekeeper.wake(after: duration, $0) }
    ) { inlet in
      inlet.follow(follow { inlet.report($0) })
    }
    return Publisher(of: self, value: .untracked { work.latest ?? readCurrent() }) {
      work.subscribe($0)
    }
  }
}
