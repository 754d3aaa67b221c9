internal import MiniRex

/// The objects that are still in memory, and the subscriptions that are still active.
///
/// Thrown from a test, it fails the test in any framework.
public struct LeakReport: Error, Equatable, CustomStringConvertible {
  /// The type of each object and the place of its tracking, oldest first.
  public let objects: [String]
  /// Each subscription with its upstream and its place in the code, oldest first.
  public let subscriptions: [String]

  init(objects: [String], in graph: LiveGraph) {
    self.objects = objects
    let snapshot = graph.snapshot()
    subscriptions = snapshot.nodes.filter { $0.role == .subscription }.map { node in
      let place = node.place.map { ", \($0)" } ?? ""
      return snapshot.path(to: node) + place
    }
  }

  /// The objects and the subscriptions, one per line.
  public var description: String {
    var lines: [String] = []
    if !objects.isEmpty {
      lines.append(
        objects.count == 1
          ? "An object is still in memory:" : "\(objects.count) objects are still in memory:")
      lines += objects.map { "  \($0)" }
    }
    if !subscriptions.isEmpty {
      let count = subscriptions.count
      lines.append(
        count == 1 ? "A subscription is still active:" : "\(count) subscriptions are still active:")
      lines += subscriptions.map { "  \($0)" }
    }
    return lines.joined(separator: "\n")
  }
}

extension LiveGraph.Snapshot {
  /// `numbers → map → subscribe`.
  fileprivate func path(to node: LiveGraph.Node, avoiding later: Set<Int> = []) -> String {
    let later = later.union([node.id])
    let inputs = edges.filter { $0.to == node.id && !later.contains($0.from) }.compactMap { edge in
      nodes.first { $0.id == edge.from }.map { path(to: $0, avoiding: later) }
    }
    switch inputs.count {
    case 0: return node.name
    case 1: return "\(inputs[0]) → \(node.name)"
    default: return "(\(inputs.joined(separator: ", "))) → \(node.name)"
    }
  }
}

/// An instrument that draws a graph, and forwards the events to the current instrument.
struct LeakWatch: Instrument {
  let graph: LiveGraph?
  private let outer = CurrentInstrument.current

  init(graph: LiveGraph) {
    self.graph = graph
  }

  var backlogLimit: Int { outer?.backlogLimit ?? 1_000 }

  func record(_ event: InstrumentEvent) {
    outer?.record(event)
  }
}
