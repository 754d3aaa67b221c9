internal import MiniRex

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
/// What it throws is a ``LeakReport`` that names each of them and where it is written. A source
/// that is released ends its subscriptions, so they can only be left over if the source is, too: by
/// a publisher or a callback that somebody keeps. Sources that threads make, or `Task.detached`,
/// are not watched.
///
/// - Parameter body: What it throws is thrown on.
public func expectSubscriptionsEnded(_ body: () throws -> Void) throws {
  let graph = LiveGraph()
  try withInstrument(LeakWatch(graph: graph)) { try body() }
  try throwIfSubscribed(graph)
}

func throwIfSubscribed(_ graph: LiveGraph) throws {
  let report = LeakReport(objects: [], in: graph)
  if !report.subscriptions.isEmpty { throw report }
}
