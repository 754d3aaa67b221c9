import MiniRex
import TestSupport

/// An instrument that stores events, and can react to each of them.
final class EventLog: Instrument {
  let graph: LiveGraph?
  let backlogLimit: Int
  private let events = Shared<[InstrumentEvent]>([])
  private let react: @Sendable (InstrumentEvent) -> Void

  init(
    graph: LiveGraph? = nil, backlogLimit: Int = 1_000,
    _ react: @escaping @Sendable (InstrumentEvent) -> Void = { _ in }
  ) {
    self.graph = graph
    self.backlogLimit = backlogLimit
    self.react = react
  }

  func record(_ event: InstrumentEvent) {
    events.change { $0.append(event) }
    react(event)
  }

  var all: [InstrumentEvent] { events.value }

  /// The label and the kind of each event.
  var lines: [String] { all.map { "\($0.label) \($0.kind)" } }

  func count(_ kind: InstrumentEvent.Kind) -> Int { all.count { $0.kind == kind } }
}
