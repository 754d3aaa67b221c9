// How a publisher is subscribed to, so that one that is not watched costs nothing:
// - What a source stores is `connect`. Operators that are made inline call it directly: the
//   optimiser makes one closure of a chain of them, so nothing can be counted between two of them.
// - Other operators call `follow`, which counts.
// - Forms of `subscribe` do what they do inside `subscribe(as:)`, so that they are known by name
//   and place.
// Sources and traces count for themselves, in their own `connect`.

extension Publisher {
  /// Subscribes for an operator that is not made inline, or for a form of `subscribe`.
  @usableFromInline
  package func follow(_ receive: @escaping @Sendable (Update) -> Void) -> Subscription {
    guard let lineage, lineage.isCountedByOthers else { return connect(receive) }
    return lineage.pass(receive, by: connect)
  }

  /// Subscribes for something that has to hear of the end.
  @usableFromInline
  package func follow(
    _ receive: @escaping @Sendable (Update) -> Void, onEnd: @escaping @Sendable () -> Void
  ) -> Subscription {
    let gate = EndGate(onEnd)
    let sentinel = Sentinel { gate.sourceHasEnded() }
    return gate.subscription(
      to: follow { update in
        withExtendedLifetime(sentinel) { receive(update) }
      })
  }

  /// Subscribes for an operator that got this publisher with an update.
  package func follow(
    in context: WatchContext?, _ receive: @escaping @Sendable (Update) -> Void
  ) -> Subscription {
    guard let context, lineage != nil else { return follow(receive) }
    return context.inForce { follow(receive) }
  }

  /// What an operator that takes publishers from its updates asks for while it is subscribed to.
  ///
  /// It passes it to `follow(in:_:)` of each of these publishers.
  package var contextOfInner: WatchContext? {
    guard let lineage, let context = WatchContext.current,
      let consumer = context.consumer(of: lineage)
    else { return nil }
    return WatchContext(
      consumer, adopts: true, place: context.place, subscription: context.subscription)
  }

  /// Subscribes for an effect, which a graph shows by the number of the commit that has asked for it.
  @usableFromInline
  package func subscribe(
    asEffectOf commit: Int, _ receive: @escaping @Sendable (Update) -> Void,
    onEnd: @escaping @Sendable () -> Void
  ) -> Subscription {
    if lineage == nil { return follow(receive, onEnd: onEnd) }
    return subscribe(as: "effect of commit \(commit)") { follow(receive, onEnd: onEnd) }
  }

  /// Runs what a form of `subscribe` does, so that it is known by its name, and its place if it has
  /// one.
  @usableFromInline
  package func subscribe(
    as name: String, _ fileID: String? = nil, _ line: Int = 0, _ body: () -> Subscription
  ) -> Subscription {
    guard let lineage else { return body() }
    let place = fileID.map { CodePlace(fileID: $0, line: line) }
    return lineage.context(of: name, at: place).inForce(body)
  }
}
