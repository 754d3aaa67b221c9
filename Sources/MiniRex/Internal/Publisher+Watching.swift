// How a watched publisher is subscribed to, so that one which is not watched costs nothing:
// - Operators that are made inline call `start`. The optimiser makes one closure of a chain of them, so
//   nothing can be counted between two of them; `start` only says who subscribes.
// - Others call `startCounted`.
// - Sources and traces count for themselves, with the `begin` that they were made with.

extension Publisher {
  /// Subscribes for an operator that is made inline.
  @inlinable
  package func start(_ receive: @escaping @Sendable (Update) -> Void) -> Subscription {
    let scope = lineage?.enter()
    let token = begin(receive)
    if let scope { Lineage.exit(scope) }
    return token
  }

  /// Subscribes for an operator that is not, or for a form of `subscribe`.
  @usableFromInline
  package func startCounted(
    _ receive: @escaping @Sendable (Update) -> Void
  ) -> Subscription {
    guard let lineage, lineage.isCountedByOthers else { return begin(receive) }
    return lineage.pass(receive, by: begin)
  }

  /// Subscribes for a form of `subscribe`, so that it is known by its name and place.
  package func start(
    as name: String, _ fileID: String, _ line: Int,
    _ receive: @escaping @Sendable (Update) -> Void
  ) -> Subscription {
    watched(as: name, fileID, line) { startCounted(receive) }
  }

  /// Runs what a form of `subscribe` does, so that it is known by its name and place.
  @usableFromInline
  package func watched(
    as name: String, _ fileID: String, _ line: Int, _ body: () -> Subscription
  ) -> Subscription {
    guard let lineage else { return body() }
    return lineage.subscribe(as: name, at: CodePlace(fileID: fileID, line: line), body)
  }

  /// What an operator that takes publishers from its updates asks for while it is subscribed to.
  ///
  /// It passes it to `start(in:_:)` of each of these publishers.
  package var contextOfInner: WatchInner? {
    guard lineage != nil, let consumer = WatchContext.current?.consumer else { return nil }
    return WatchInner(context: .next(consumer, adopts: true))
  }

  /// Subscribes for an operator that got this publisher with an update.
  package func start(
    in inner: WatchInner?, _ receive: @escaping @Sendable (Update) -> Void
  ) -> Subscription {
    guard let inner, lineage != nil else { return start(receive) }
    return inner.context.inForce { startCounted(receive) }
  }
}

/// The operator that takes publishers from its updates.
package struct WatchInner: Sendable {
  fileprivate let context: WatchContext
}

extension Lineage {
  var reports: Bool { role == .source || role == .trace }

  fileprivate var isCountedByOthers: Bool { !reports && graph != nil }

  /// While an operator subscribes to this publisher.
  @usableFromInline @inline(never)
  func enter() -> WatchScope? {
    isCountedByOthers ? WatchContext.next(self).enter() : nil
  }

  @usableFromInline @inline(never)
  static func exit(_ scope: WatchScope) {
    WatchContext.exit(scope)
  }

  /// Runs what a subscriber does to subscribe.
  func subscribe(
    as name: String, at place: CodePlace, _ body: () -> Subscription
  ) -> Subscription {
    context(of: name, at: place).inForce(body)
  }

  /// Runs what an operator does that subscribes before anybody has subscribed to it.
  func subscribe(_ body: () -> Subscription) -> Subscription {
    WatchContext(consumer: graph == nil ? nil : self, place: place).inForce(body)
  }

  fileprivate func context(of name: String, at place: CodePlace) -> WatchContext {
    guard graph != nil else { return WatchContext(consumer: nil, place: place) }
    let node = Lineage(
      .subscription, name, at: place, inputs: [self], instrument: instrument, graph: graph)
    return WatchContext(consumer: node, place: place, subscription: node.id)
  }

  /// What `subscribe(_:)` does, in two halves.
  @usableFromInline @inline(never)
  func open(_ name: String, _ fileID: String, _ line: Int) -> OpenSubscription {
    let scope = context(of: name, at: CodePlace(fileID: fileID, line: line)).enter()
    guard isCountedByOthers else { return OpenSubscription(passage: nil, scope: scope) }
    let passage = Passage(through: self)
    let inner = WatchContext.next(self).enter()
    return OpenSubscription(
      passage: passage, scope: WatchScope(outer: scope.outer, inner: inner.inner))
  }
}

/// While `subscribe(_:)` subscribes.
@usableFromInline
package struct OpenSubscription: Sendable {
  fileprivate let passage: Passage?
  @usableFromInline let scope: WatchScope

  @usableFromInline @inline(never)
  func hasDelivered() {
    passage?.hasDelivered()
  }
}
