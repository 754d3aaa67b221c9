/// Who is subscribing, while a watched publisher is being subscribed to.
///
/// A task-local value, because what is between the subscriber and the source are closures that know
/// nothing of each other.
@usableFromInline
package struct WatchContext: Sendable {
  @TaskLocal static var current: WatchContext?

  /// The operator or the subscription that subscribes, if there is a graph.
  let consumer: Lineage?
  /// True if the consumer takes publishers that it was not made with, as `flatMap` does.
  let adopts: Bool
  /// Where the subscription is written that all this is done for.
  let place: CodePlace?
  let subscription: Int

  init(
    consumer: Lineage?, adopts: Bool = false, place: CodePlace?, subscription: Int = Lineage.newID()
  ) {
    self.consumer = consumer
    self.adopts = adopts
    self.place = place
    self.subscription = subscription
  }

  func inForce<Result>(_ body: () -> Result) -> Result {
    WatchContext.$current.withValue(self, operation: body)
  }
}

extension Lineage {
  /// Runs what a subscriber does to subscribe.
  @usableFromInline
  func subscribe(
    as name: String, at place: CodePlace, _ body: () -> Subscription
  ) -> Subscription {
    guard graph != nil else { return WatchContext(consumer: nil, place: place).inForce(body) }
    let node = Lineage(
      .subscription, name, at: place, inputs: [self], instrument: instrument, graph: graph)
    return WatchContext(consumer: node, place: place, subscription: node.id).inForce(body)
  }

  /// Runs what an operator does that subscribes before anybody has subscribed to it.
  func subscribe(_ body: () -> Subscription) -> Subscription {
    WatchContext(consumer: self, place: place).inForce(body)
  }
}

extension Publisher {
  /// Runs what a form of `subscribe` does, so that it is known by its name and place.
  @inlinable
  package func watched(
    as name: String, _ fileID: String, _ line: Int, _ body: () -> Subscription
  ) -> Subscription {
    guard let lineage else { return body() }
    return lineage.subscribe(as: name, at: CodePlace(fileID: fileID, line: line), body)
  }

  /// Subscribes for a form of `subscribe`, so that it is known by its name and place.
  @inlinable
  package func start(
    as name: String, _ fileID: String, _ line: Int,
    _ receive: @escaping @Sendable (Update) -> Void
  ) -> Subscription {
    watched(as: name, fileID, line) { start(receive) }
  }

  /// What an operator that takes publishers from its updates asks for while it is subscribed to.
  ///
  /// It passes it to `start(in:_:)` of each of these publishers.
  package var contextOfInner: WatchContext? {
    guard lineage != nil, let context = WatchContext.current else { return nil }
    return WatchContext(
      consumer: context.consumer, adopts: true, place: context.place,
      subscription: context.subscription)
  }

  /// Subscribes for an operator that got this publisher with an update.
  package func start(
    in context: WatchContext?, _ receive: @escaping @Sendable (Update) -> Void
  ) -> Subscription {
    guard let context, lineage != nil else { return start(receive) }
    return context.inForce { start(receive) }
  }
}
