/// The identity of the subscriber while an observed publisher is being subscribed.
///
/// It is thread-local, because only closures connect the subscriber and the source, and the
/// optimizer merges them where it can.
package final class WatchContext: Sendable {
  /// The operator or the subscription that subscribes, if a graph exists.
  private let consumer: Lineage?
  /// `true` if the consumer subscribes to publishers that it receives as updates, as `flatMap`
  /// does.
  private let adopts: Bool
  /// The place of the `subscribe` call that started the chain.
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

  /// Returns the operator or the subscription downstream of a publisher, or `nil` if it is unknown.
  ///
  /// Inlined operators do not report that they subscribe. Each of them has one input, so the path
  /// to the consumer leads through them.
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

  /// Makes this context current until `exit()` of the returned scope.
  ///
  /// A closure parameter would be allocated before its need is known.
  func enter() -> WatchScope {
    let scope = WatchScope(outer: WatchContext.ofThread.value, inner: self)
    WatchContext.ofThread.value = self
    return scope
  }

  fileprivate func replace(by outer: WatchContext?) { WatchContext.ofThread.value = outer }
}

/// The current and the previous context.
///
/// The thread retains neither of them.
@usableFromInline
package struct WatchScope: Sendable {
  let outer: WatchContext?
  let inner: WatchContext

  @usableFromInline @inline(never)
  func exit() {
    inner.replace(by: outer)
  }
}
