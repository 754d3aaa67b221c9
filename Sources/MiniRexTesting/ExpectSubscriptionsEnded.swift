import MiniRex

/// Throws unless all subscriptions have ended, when `body` has returned, to sources that it made.
///
/// ```swift
/// @Test func `a closed door listens to nobody`() throws {
///   let bag = SubscriptionBag()
///   try expectSubscriptionsEnded {
///     let bell = BroadcastSource<Int>(name: "bell")
///     bell.publisher.subscribe { ring($0) }.store(in: bag)
///     bag.invalidate()
///   }
/// }
/// ```
///
/// What it throws is a ``LeakReport`` that names each of them and where it is written. A source that is
/// released ends its subscriptions, so they can only be left over if the source is, too: by a
/// publisher or a callback that somebody keeps. Sources that threads make, or `Task.detached`, are not
/// watched.
///
/// - Parameter body: What it throws is thrown on.
// Swift tells the two apart by what the closure does.
// swift-format-ignore: AmbiguousTrailingClosureOverload
public func expectSubscriptionsEnded(_ body: () throws -> Void) throws {
  let graph = LiveGraph()
  try withInstrument(LeakWatch(graph: graph)) { try body() }
  try check(graph)
}

/// Throws unless all subscriptions have ended, when `body` has returned, to sources that it made.
///
/// Like the one that does not wait.
///
/// - Parameter body: What it throws is thrown on.
// Swift tells the two apart by what the closure does.
// swift-format-ignore: AmbiguousTrailingClosureOverload
public func expectSubscriptionsEnded(_ body: () async throws -> Void) async throws {
  let graph = LiveGraph()
  try await withInstrument(LeakWatch(graph: graph)) { try await body() }
  try check(graph)
}

private func check(_ graph: LiveGraph) throws {
  let report = LeakReport(objects: [], in: graph)
  if !report.subscriptions.isEmpty { throw report }
}
