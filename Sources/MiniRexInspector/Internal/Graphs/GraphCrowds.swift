internal import MiniRex

/// A snapshot in which many equal subscriptions are one node.
///
/// The page folds equal branches itself. This limits the data for a source with many subscribers.
struct GraphCrowds: Sendable {
  private struct Key: Hashable {
    let name: String
    let place: CodePlace?
    let inputs: [Int]
  }

  let nodes: [LiveGraph.Node]
  /// The edges between two nodes, given as indices.
  let edges: [(from: Int, to: Int, edges: [LiveGraph.Edge])]
  /// The subscriptions that a node represents, by its ID.
  let members: [Int: [Int]]

  init(_ snapshot: LiveGraph.Snapshot, largest: Int) {
    let inputs = Dictionary(grouping: snapshot.edges, by: \.to).mapValues { $0.map(\.from) }
    let subscriptions = snapshot.nodes.filter { $0.role == .subscription }
    let crowds = Dictionary(grouping: subscriptions) {
      Key(name: $0.name, place: $0.place, inputs: inputs[$0.id] ?? [])
    }
    var leaderOf: [Int: Int] = [:]
    var members: [Int: [Int]] = [:]
    for crowd in crowds.values where crowd.count > largest {
      members[crowd[0].id] = crowd.map(\.id)
      for node in crowd { leaderOf[node.id] = crowd[0].id }
    }
    nodes = snapshot.nodes.filter { leaderOf[$0.id] ?? $0.id == $0.id }
    let indices = Dictionary(
      uniqueKeysWithValues: nodes.enumerated().map { ($0.element.id, $0.offset) })
    var bundles: [[Int]: [LiveGraph.Edge]] = [:]
    for edge in snapshot.edges {
      guard let from = indices[leaderOf[edge.from] ?? edge.from],
        let to = indices[leaderOf[edge.to] ?? edge.to]
      else { continue }
      bundles[[from, to], default: []].append(edge)
    }
    edges = bundles.sorted { $0.key.lexicographicallyPrecedes($1.key) }
      .map { ($0.key[0], $0.key[1], $0.value) }
    self.members = members
  }
}
