/// A snapshot in a readable form: identical subscriptions are drawn once, with a count.
///
/// Numbers start at 1 in the order of creation, so a drawing is the same in each run.
package struct GraphDrawing: Sendable {
  package struct Node: Sendable {
    package let number: Int
    package let role: LiveGraph.Role
    package let name: String
    package let place: String?
    /// The number of subscriptions that the node represents, or the number of subscribers of a
    /// source.
    package let note: String?
  }

  package struct Edge: Sendable {
    package let from: Int
    package let to: Int
    package let isActive: Bool
    package let label: String
  }

  /// Subscriptions of one line of code to one publisher.
  private struct Crowd: Hashable {
    let name: String
    let place: CodePlace?
    let inputs: [Int]
  }

  package let nodes: [Node]
  package let edges: [Edge]

  package init(_ snapshot: LiveGraph.Snapshot) {
    let inputs = Dictionary(grouping: snapshot.edges, by: \.to).mapValues { $0.map(\.from) }
    var leaders: [Crowd: Int] = [:]
    var leaderOf: [Int: Int] = [:]
    var sizes: [Int: Int] = [:]
    for node in snapshot.nodes {
      var leader = node.id
      if node.role == .subscription {
        let crowd = Crowd(name: node.name, place: node.place, inputs: inputs[node.id] ?? [])
        leader = leaders[crowd] ?? node.id
        leaders[crowd] = leader
      }
      leaderOf[node.id] = leader
      sizes[leader, default: 0] += 1
    }
    let drawn = snapshot.nodes.filter { leaderOf[$0.id] == $0.id }
    var numbers: [Int: Int] = [:]
    for (index, node) in drawn.enumerated() { numbers[node.id] = index + 1 }
    nodes = drawn.enumerated().map { index, node in
      Node(
        number: index + 1, role: node.role, name: node.name,
        place: node.place?.description, note: note(on: node, standingFor: sizes[node.id] ?? 1))
    }
    edges = GraphDrawing.bundled(snapshot.edges) { leaderOf[$0].flatMap { numbers[$0] } }
  }

  private static func bundled(
    _ edges: [LiveGraph.Edge], number: (Int) -> Int?
  ) -> [Edge] {
    var bundles: [[Int]: [LiveGraph.Edge]] = [:]
    for edge in edges {
      guard let from = number(edge.from), let to = number(edge.to) else { continue }
      bundles[[to, from], default: []].append(edge)
    }
    return bundles.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { ends, bundle in
      let counts = bundle.compactMap(\.updateCount)
      let updates = counts.isEmpty ? "" : "\(counts.reduce(0, +))"
      let pending = bundle.reduce(0) { $0 + $1.pendingUpdates }
      let rate = bundle.reduce(0) { $0 + ($1.updatesPerSecond ?? 0) }
      return Edge(
        from: ends[1], to: ends[0], isActive: bundle.contains(where: \.isActive),
        label: (rate > 0 ? "\(updates), \(short(rate))/s" : updates)
          + (pending > 0 ? ", \(pending) pending" : "")
          + (bundle.compactMap(\.stall).max().map { ", stalled for \(short($0))" } ?? ""))
    }
  }
}

private func note(on node: LiveGraph.Node, standingFor count: Int) -> String? {
  switch node.role {
  case .source:
    node.subscriberCount.map {
      ($0 == 1 ? "1 subscriber" : "\($0) subscribers")
        + (node.pendingUpdates > 0 ? ", \(node.pendingUpdates) pending" : "") + loads(of: node)
    }
  case .subscription: count > 1 ? "× \(count)" : nil
  case .operation:
    if let count = node.runCount, let time = node.runTime {
      "\(count == 1 ? "1 run" : "\(count) runs"), \(short(time))"
    } else {
      nil
    }
  case .trace: nil
  }
}

/// The loads of a resource, the failed effects of a store, or an empty text.
private func loads(of node: LiveGraph.Node) -> String {
  guard let failures = node.failureCount else { return "" }
  guard let count = node.loadCount else {
    return failures == 1 ? ", 1 failed effect" : ", \(failures) failed effects"
  }
  return (count == 1 ? ", 1 load" : ", \(count) loads")
    + (failures > 0 ? ", \(failures) failed" : "")
    + (node.age.map { ", \(short($0 / .seconds(1))) s old" } ?? "")
}

/// Formats a duration, with one decimal place.
private func short(_ time: Duration) -> String {
  let microseconds = time / .microseconds(1)
  return microseconds < 1_000 ? "\(short(microseconds)) µs" : "\(short(microseconds / 1_000)) ms"
}

/// Formats a rate, with one decimal place for small rates.
private func short(_ rate: Double) -> String {
  if rate >= 100 { return rate < 1e15 ? "\(Int(rate.rounded()))" : "\(rate)" }
  return "\((rate * 10).rounded() / 10)"
}
