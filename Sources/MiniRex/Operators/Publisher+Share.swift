extension Publisher where Kind: StreamKind {
  /// One subscription for all subscribers.
  ///
  /// ```swift
  /// let ticks = Broadcaster<Date> { receive in
  ///   let timer = start(every: 1) { receive(Date()) }
  ///   return Subscription { timer.stop() }
  /// }.share()
  /// ```
  ///
  /// It keeps the kind. It subscribes inside `subscribe` of the first subscriber, and leaves with
  /// the last; then everything is forgotten, and the next subscriber begins anew. It calls where
  /// the publisher does. Later subscribers of a published value are called at once with the value
  /// delivered last, or, while another thread is delivering, by that thread; those of a broadcaster
  /// get what comes from then on, and what has been waiting above. Whoever subscribes while another
  /// thread connects waits until it has. It ends with the publisher, and whoever subscribes after
  /// that begins anew too. What it keeps, such as the latest of a published value, lives as long as
  /// there are subscribers; a publisher that subscribes to itself always has one, and stays.
  public func share() -> Publisher<Update, Kind> {
    let work = SharedWork<Update>(remembersProgress: Kind.hasCurrentValue) { inlet in
      inlet.follow(follow { inlet.report($0) })
    }
    return Publisher(of: self, current: { work.latest ?? readCurrent() }) { work.subscribe($0) }
  }
}
