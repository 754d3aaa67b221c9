internal import MiniRex

/// Says what is still alive; thrown, it fails a test of any framework with its description.
public struct LeakReport: Error, Equatable, CustomStringConvertible {
  /// The type of each object and where it was tracked, oldest first.
  public let objects: [String]
  /// Each subscription with what it subscribes to and where it is written, oldest first.
  public let subscriptions: [String]

  init(objects: [String], in graph: LiveGraph) {
    self.objects = objects
    let snapshot = graph.snapshot()
    subscriptions = snapshot.nodes.filter { $0.role == .subscription }.map { node in
      let place = node.place.map { ", \($0)" } ?? ""
      return snapshot.path(to: node) + place
    }
  }

  /// Both, one in a line.
  public var description: String {
    var lines: [String] = []
    if !objects.isEmpty {
      lines.append(objects.count == 1 ? "An object lives:" : "\(objects.count) objects live:")
      lines += objects.map { "  \($0)" }
    }
    if !subscriptions.isEmpty {
      let count = subscriptions.count
      lines.append(count == 1 ? "A subscription lives:" : "\(count) subscriptions live:")
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

/// Draws, and passes on to whoever has watched so far.
struct LeakWatch: Instrument {
  let graph: LiveGraph?
  private let outer = InstrumentInForce.current

  init(graph: LiveGraph) {
    self.graph = graph
  }

  var backlogLimit: Int { outer?.backlogLimit ?? 1_000 }

  func record(_ event: InstrumentEvent) {
    outer?.record(event)
  }
}
