/// Hears what happens to the sources and traces that it watches.
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
/// A source asks once, when it is made, which instrument watches it, and `trace(_:)` when it is
/// called: the one that is given, else that of `withInstrument`, else the one of the process,
/// ``setDefaultInstrument(_:)``. Without one, nothing is done, then or later.
public protocol Instrument: Sendable {
  /// Tells what has happened.
  ///
  /// It is called on the thread to which it happened, for several threads at once, and never under
  /// a lock: it may send, subscribe and end. What it does to watched sources is recorded as well.
  func record(_ event: InstrumentEvent)

  /// Draws what is watched; `nil`, unless you say otherwise, spares operators the cost of it.
  var graph: LiveGraph? { get }

  /// How many updates may wait in one place before that is recorded; 1,000 unless you say otherwise.
  ///
  /// It is recorded when so many wait, and again whenever twice as many do.
  var backlogLimit: Int { get }
}

extension Instrument {
  /// None: nothing is drawn.
  public var graph: LiveGraph? { nil }

  /// As many as one thread delivers for others in a row.
  public var backlogLimit: Int { 1_000 }
}
