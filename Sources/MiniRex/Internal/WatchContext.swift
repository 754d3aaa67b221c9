/// Who is subscribing, while a watched publisher is being subscribed to.
///
/// It is known by the thread, because what is between the subscriber and the source are closures that
/// know nothing of each other, and that the optimiser makes one where it can.
final class WatchContext: Sendable {
  /// The operator or the subscription that subscribes, if there is a graph.
  let consumer: Lineage?
  /// True if the consumer takes publishers that it was not made with, as `flatMap` does.
  let adopts: Bool
  /// Where the subscription is written that all this is done for.
  let place: CodePlace?
  let subscription: Int

  private static let ofThread = ThreadLocal<WatchContext>()

  static var current: WatchContext? { ofThread.value }

  init(
    consumer: Lineage?, adopts: Bool = false, place: CodePlace?, subscription: Int = Lineage.newID()
  ) {
    self.consumer = consumer
    self.adopts = adopts
    self.place = place
    self.subscription = subscription
  }

  /// The one that is in force where another one subscribes on behalf of the same subscription.
  static func next(_ consumer: Lineage, adopts: Bool = false) -> WatchContext {
    let current = current
    return WatchContext(
      consumer: consumer.graph == nil ? nil : consumer, adopts: adopts, place: current?.place,
      subscription: current?.subscription ?? Lineage.newID())
  }

  func inForce<Result>(_ body: () -> Result) -> Result {
    let outer = WatchContext.ofThread.value
    WatchContext.ofThread.value = self
    // The thread keeps neither of them alive.
    defer { withExtendedLifetime((self, outer)) { WatchContext.ofThread.value = outer } }
    return body()
  }

  /// In force from now on, until `exit(_:)` gets what this has returned.
  ///
  /// For code that may not become a closure: it would be allocated before anybody knows if it is needed.
  func enter() -> WatchScope {
    let scope = WatchScope(outer: WatchContext.ofThread.value, inner: self)
    WatchContext.ofThread.value = self
    return scope
  }

  static func exit(_ scope: WatchScope) {
    withExtendedLifetime(scope) { WatchContext.ofThread.value = scope.outer }
  }
}

/// What was in force before, and what is now.
@usableFromInline
package struct WatchScope: Sendable {
  let outer: WatchContext?
  let inner: WatchContext
}
