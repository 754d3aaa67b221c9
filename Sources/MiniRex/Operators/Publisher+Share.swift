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
    return Publisher(of: self, current: { work.latest ?? readCurrent() }) { work.subscribe($0) }
  }
}
