/// An instrument that prints a line for each event.
///
/// ```swift
/// let numbers = BroadcastSource<Int>(name: "numbers", instrument: PrintingInstrument())
/// ```
public struct PrintingInstrument: Instrument {
  /// The graph passed to the initializer.
  public let graph: LiveGraph?
  /// The limit passed to the initializer.
  public let backlogLimit: Int
  private let write: @Sendable (String) -> Void

  /// Creates an instrument that prints to standard output, or calls `write`.
  ///
  /// - Parameters:
  ///   - graph: A graph of the observed sources.
  ///   - backlogLimit: The queue length at which a line is printed.
  ///   - write: A closure that receives each line, concurrently on several threads.
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
