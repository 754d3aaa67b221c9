/// Tells who is subscribing, while a watched publisher is being subscribed to.
///
/// The thread knows it, because between the subscriber and the source there are only closures,
/// which know nothing of each other, and of which the optimiser makes one where it can.
package final class WatchContext: Sendable {
  /// The operator or the subscription that subscribes, if there is a graph.
  private let consumer: Lineage?
  /// True if the consumer takes publishers that it was not made with, as `flatMap` does.
  private let adopts: Bool
  /// Where the subscription is written that all this is done for.
  let place: CodePlace?
  let subscription: Int

  private static let ofThread = ThreadLocal<WatchContext>()

  static var current: WatchContext? { ofThread.value }

  init(
    _ consumer: Lineage?, adopts: Bool = false, place: CodePlace? = nil,
    subscription: Int = Lineage.newID()
  ) {
    self.consumer = consumer?.graph == nil ? nil : consumer
    self.adopts = adopts
    self.place = place
    self.subscription = subscription
  }

  /// The operator or the subscription that is about to be called by a publisher; `nil` if nobody
  /// knows.
  ///
  /// Operators that are made inline do not tell that they subscribe. They have one input each, so
  /// the way to the one that does leads through them.
  func consumer(of input: Lineage) -> Lineage? {
    guard var consumer, consumer.graph === input.graph else { return nil }
    if adopts { return consumer }
    while !consumer.takes(input) {
      guard consumer.inputs.count == 1 else { return nil }
      consumer = consumer.inputs[0]
    }
    return consumer
  }

  func inForce<Result>(_ body: () -> Result) -> Result {
    let scope = enter()
    defer { scope.exit() }
    return body()
  }

  /// In force from now on, until what this returns says `exit()`.
  ///
  /// For code that may not become a closure: it would be allocated before anybody knows if it is
  /// needed.
  func enter() -> WatchScope {
    let scope = WatchScope(outer: WatchContext.ofThread.value, inner: self)
    WatchContext.ofThread.value = self
    return scope
  }

  fileprivate func replace(by outer: WatchContext?) { WatchContext.ofThread.value = outer }
}

/// What is in force, and what was before: the thread keeps neither of them alive.
@usableFromInline
package struct WatchScope: Sendable {
  let outer: WatchContext?
  let inner: WatchContext

  @usableFromInline @inline(never)
  func exit() {
    inner.replace(by: outer)
  }
}
