internal import MiniRex

/// Throws if a subscription to a source that `body` creates is still active after `body` returns.
///
/// ```swift
/// @Test func `a closed door cancels its subscriptions`() throws {
///   let bag = SubscriptionBag()
///   try expectSubscriptionsEnded {
///     let bell = BroadcastSource<Int>(name: "bell")
///     bell.publisher.subscribe { ring($0) }.store(in: bag)
///     bag.invalidate()
///   }
/// }
/// ```
///
/// The report names each subscription with its place in the code. A released source finishes its
/// subscriptions. A reported subscription therefore means that a publisher or a callback still retains
/// the source. Sources that other threads or `Task.detached` create are not checked.
///
/// - Parameter body: Creates the sources.
/// - Throws: A ``LeakReport``, or the error of `body`.
public func expectSubscriptionsEnded(_ body: () throws -> Void) throws {
  let graph = LiveGraph()
  try withInstrument(LeakWatch(graph: graph)) { try body() }
  try throwIfSubscribed(graph)
}

func throwIfSubscribed(_ graph: LiveGraph) throws {
  let report = LeakReport(objects: [], in: graph)
  if !report.subscriptions.isEmpty { throw report }
}
