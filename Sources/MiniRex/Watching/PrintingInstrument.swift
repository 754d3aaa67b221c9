/// Prints a line for each event.
///
/// ```swift
/// let numbers = BroadcastSource<Int>(name: "numbers", instrument: PrintingInstrument())
/// ```
public struct PrintingInstrument: Instrument {
  /// What it was made with.
  public let graph: LiveGraph?
  /// What it was made with.
  public let backlogLimit: Int
  private let write: @Sendable (String) -> Void

  /// Makes one that prints to standard output, or wherever you like.
  ///
  /// - Parameters:
  ///   - graph: Draws what is watched.
  ///   - backlogLimit: How many updates may wait in a source before that is printed.
  ///   - write: Called with each line, by several threads at once.
  public init(
    graph: LiveGraph? = nil, backlogLimit: Int = 1_000,
    write: @escaping @Sendable (String) -> Void = { print($0) }
  ) {
    self.graph = graph
    self.backlogLimit = backlogLimit
    self.write = write
  }

  /// Prints the description of the event.
  public func record(_ event: InstrumentEvent) {
    write(event.description)
  }
}
