internal import MiniRex

/// The nodes that do not keep up with their updates, found by comparison with an earlier snapshot.
struct GraphHealth: Sendable {
  enum State: Int, Sendable, Encodable, Comparable {
    case fine
    /// Updates are queued all the time, and the queue has grown or dropped updates.
    case slow
    /// Updates are queued and the subscriber takes none, or a callback did not return.
    case stalled

    static func < (one: State, other: State) -> Bool { one.rawValue < other.rawValue }
  }

  /// The states of the nodes that are not fine, and of the subscriptions downstream, by node ID.
  private(set) var states: [Int: State] = [:]

  init(_ snapshot: LiveGraph.Snapshot, after old: LiveGraph.Snapshot) {
    let edgesFrom = Dictionary(grouping: snapshot.edges, by: \.from)
    let edgesTo = Dictionary(grouping: snapshot.edges, by: \.to)
    let oldEdgesTo = Dictionary(grouping: old.edges, by: \.to)
    let oldPending = Dictionary(
      uniqueKeysWithValues: old.nodes.map { ($0.id, $0.pendingUpdates) })
    for node in snapshot.nodes {
      guard let before = oldPending[node.id] else { continue }
      if node.pendingUpdates > before, before > 0 {
        states[node.id] = max(states[node.id] ?? .fine, .slow)
      }
      let state = Flow(edgesTo[node.id] ?? []).state(after: Flow(oldEdgesTo[node.id] ?? []))
      guard let state else { continue }
      // Subscriptions downstream have the state as well, because they have the places in the source code.
      mark(node.id, state, edgesFrom)
    }
  }

  private mutating func mark(_ id: Int, _ state: State, _ edgesFrom: [Int: [LiveGraph.Edge]]) {
    if let known = states[id], known >= state { return }
    states[id] = state
    for edge in edgesFrom[id] ?? [] where edge.isActive { mark(edge.to, state, edgesFrom) }
  }

  /// The updates at the end of a node's incoming edges.
  private struct Flow {
    var count = 0
    var pending = 0
    var dropped = 0
    var inProgress = 0

    init(_ edges: [LiveGraph.Edge]) {
      count = edges.reduce(0) { $0 + ($1.updateCount ?? 0) }
      inProgress = edges.reduce(0) { $0 + $1.callsInProgress }
      // Each incoming edge has the counts of the node's buffers.
      (pending, dropped) = (edges.first?.pendingUpdates ?? 0, edges.first?.droppedUpdates ?? 0)
    }

    func state(after old: Flow) -> State? {
      if inProgress > 0, old.inProgress > 0, count == old.count { return .stalled }
      if pending > 0, old.pending > 0 {
        let drained = (count - old.count) - (pending - old.pending) - (dropped - old.dropped)
        if drained <= 0 { return .stalled }
        if pending > old.pending || dropped > old.dropped { return .slow }
      }
      return nil
    }
  }
}
