// Three ways to subscribe, so that an unwatched publisher pays nothing:
// - `connect` is the closure that a source stores. Inlined operators call it directly. The
//   optimizer merges a chain of them into one closure, so nothing can be counted between two of
//   them.
// - `follow` counts for a graph. Other operators call it.
// - `subscribe(as:)` surrounds each form of `subscribe`, so that a graph shows its name and place.
//
// Sources and traces count in their own `connect`.

extension Publisher {
  /// Subscribes for an operator that is not inlined, or for a form of `subscribe`.
  @usableFromInline
  package func follow(_ receive: @escaping @Sendable (Update) -> Void) -> Subscription {
    guard let lineage, lineage.isCountedByOthers else { return connect(receive) }
    return lineage.pass(receive, by: connect)
  }

  /// Subscribes, and runs `onEnd` after the last update.
  @usableFromInline
  package func follow(
    _ receive: @escaping @Sendable (Update) -> Void, onEnd: @escaping @Sendable () -> Void
  ) -> Subscription {
    let host = CompletionHost(onEnd)
    let sentinel = Sentinel { host.sourceHasEnded() }
    return host.subscription(
      to: follow { update in
        withExtendedLifetime(sentinel) { receive(update) }
      })
  }

  /// Subscribes for an operator that received this publisher as an update.
  package func follow(
    in context: WatchContext?, _ receive: @escaping @Sendable (Update) -> Void
  ) -> Subscription {
    guard let context, lineage != nil else { return follow(receive) }
    return context.inForce { follow(receive) }
  }

  /// The context of an operator's subscription, for the publishers that it receives as updates.
  ///
  /// The operator passes it to `follow(in:_:)` of each inner publisher.
  package var contextOfInner: WatchContext? {
    guard let lineage, let context = WatchContext.current,
      let consumer = context.consumer(of: lineage)
    else { return nil }
    return WatchContext(
      consumer, adopts: true, place: context.place, subscription: context.subscription)
  }

  /// Subscribes for an effect.
  ///
  /// A graph shows it by the number of the commit that started it.
  @usableFromInline
  package func subscribe(
    asEffectOf commit: Int, _ receive: @escaping @Sendable (Update) -> Void,
    onEnd: @escaping @Sendable () -> Void
  ) -> Subscription {
    if lineage == nil { return follow(receive, onEnd: onEnd) }
    return subscribe(as: "effect of commit \(commit)") { follow(receive, onEnd: onEnd) }
  }

  /// Runs the body of a form of `subscribe`, and records its name and its place.
  @usableFromInline
  package func subscribe(
    as name: String, _ fileID: String? = nil, _ line: Int = 0, _ body: () -> Subscription
  ) -> Subscription {
    guard let lineage else { return body() }
    let place = fileID.map { CodePlace(fileID: $0, line: line) }
    return lineage.context(of: name, at: place).inForce(body)
  }
}
