/// An observer of the events of sources and traces.
///
/// ```swift
/// struct Counter: Instrument {
///   let dropped = Counting()
///   func record(_ event: InstrumentEvent) {
///     if case .dropped(let count) = event.kind { dropped.add(count) }
///   }
/// }
/// ```
///
/// A source looks up its instrument once, on creation, and `trace(_:)` when it is called: the
/// instrument passed, then the instrument of `withInstrument`, then ``setDefaultInstrument(_:)``.
/// Without an instrument there is no cost, then or later.
public protocol Instrument: Sendable {
  /// Records an event.
  ///
  /// It runs on the thread of the event, concurrently on several threads, and never under a lock.
  /// It may send, subscribe, and cancel. Its own use of observed sources is recorded as well.
  func record(_ event: InstrumentEvent)

  /// The graph of the observed sources, or `nil`.
  ///
  /// The default, `nil`, saves the cost for operators.
  var graph: LiveGraph? { get }

  /// The queue length at which an event is recorded.
  ///
  /// The default is 1,000.
  ///
  /// A further event is recorded each time the length doubles.
  var backlogLimit: Int { get }
}

extension Instrument {
  /// `nil`: no graph.
  public var graph: LiveGraph? { nil }

  /// 1,000, which is also the number of updates that one thread delivers for other senders in a
  /// row.
  public var backlogLimit: Int { 1_000 }
}
