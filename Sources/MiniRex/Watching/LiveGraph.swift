/// A graph of the existing sources, operators, and subscriptions, with the updates that flow
/// between them.
///
/// ```swift
/// let graph = LiveGraph()
/// setDefaultInstrument(graph)
/// // … the program runs …
/// print(graph.tree())
/// ```
///
/// It shows sources, adapters, and traces observed by an ``Instrument`` whose `graph` it is. It is
/// such an instrument itself. It shows each subscription, but not the effects of a callback: no
/// edge connects a source to the subscriber that broadcasts to it. A chain belongs to the graph of
/// its first source.
///
/// It retains nothing. Each observed operator, subscription, and delivery has a small additional
/// cost.
public final class LiveGraph: Instrument {
  private struct Entry: Sendable {
    weak var lineage: Lineage?
    let counts: OriginCounts?
  }

  private struct State: Sendable {
    var entries: [Int: Entry] = [:]
    var retired = RetiredCounts()
  }

  private let state = Lock(State())
  let now: @Sendable () -> Duration

  /// Creates an empty graph.
  ///
  /// - Parameter clock: The clock that measures rates.
  public init(clock: any Clock<Duration> = ContinuousClock()) {
    now = Timekeeper(clock).now
  }

  /// The graph itself.
  public var graph: LiveGraph? { self }

  /// Does nothing, because a graph does not use events.
  public func record(_ event: InstrumentEvent) {}

  func add(_ lineage: Lineage) {
    state.withLock {
      $0.entries[lineage.id] = Entry(lineage: lineage, counts: lineage.counts)
    }
  }

  func remove(_ id: Int) {
    state.withLock { state in
      guard let counts = state.entries.removeValue(forKey: id)?.counts else { return }
      state.retired.add(counts) { Set(state.entries.values.compactMap(\.counts?.key)) }
    }
  }

  /// The existing nodes, oldest first.
  ///
  /// Release the last reference to one outside a lock.
  var lineages: [Lineage] {
    state.withLock { state in state.entries.values.compactMap(\.lineage) }
      .sorted { $0.id < $1.id }
  }

  /// The nodes with their counts, and the counts of deallocated nodes at the same instant.
  ///
  /// A node that is being deallocated has counts, but no lineage.
  var nodesAndRetired: ([(lineage: Lineage?, counts: OriginCounts?)], RetiredCounts) {
    state.withLock { state in
      (state.entries.values.map { ($0.lineage, $0.counts) }, state.retired)
    }
  }
}

extension LiveGraph {
  /// The role of a node.
  public enum Role: Hashable, Sendable {
    /// A source of updates.
    case source
    /// An operator, such as `map`.
    case operation
    /// A labeled publisher.
    case trace
    /// A subscription.
    case subscription
  }

  /// A source, an operator, a trace, or a subscription.
  public struct Node: Hashable, Identifiable, Sendable {
    /// The identifier of the node.
    ///
    /// Later nodes have larger ones.
    public let id: Int
    /// The role of the node.
    public let role: Role
    /// The name of the source, its type if it has none, the name of the operator or of the form of
    /// `subscribe`, or the label of the trace.
    public let name: String
    /// The place in the source code, or `nil` for an operator.
    public let place: CodePlace?
    /// The number of its subscribers, direct and through operators, or `nil` except for sources and
    /// traces.
    ///
    /// For a source, it equals its `subscriberCount`.
    public let subscriberCount: Int?
    /// The number of updates of a source that are queued for the delivering thread, and 0 for other
    /// nodes.
    public let pendingUpdates: Int
    /// The number of runs of a computed value, or `nil` for other nodes.
    public let runCount: Int?
    /// The total duration of the runs of a computed value, or `nil` for other nodes.
    public let runTime: Duration?
    /// The number of attempts of a ``Resource`` to load, or `nil` for other nodes.
    public internal(set) var loadCount: Int?
    /// The number of those attempts that failed, or of the effects of a store that failed, if there
    /// are any, and `nil` for other nodes.
    public internal(set) var failureCount: Int?
    /// The age of the value of a ``Resource``, or `nil` without a value and for other nodes.
    public internal(set) var age: Duration?
  }

  /// A connection from one node to the next.
  public struct Edge: Hashable, Sendable {
    /// The identifier of the upstream node.
    public let from: Int
    /// The identifier of the downstream node.
    public let to: Int
    /// A Boolean value that indicates whether a subscription uses the edge.
    public let isActive: Bool
    /// The number of updates on this edge, or `nil` between two operators that the compiler merges.
    public let updateCount: Int?
    /// The number of updates per second since the previous snapshot, or since the edge exists.
    ///
    /// It is `nil` where updates are not counted.
    public let updatesPerSecond: Double?
    /// The number of updates that are queued at the end of this edge, for a loop, a queue, or an
    /// actor.
    public let pendingUpdates: Int
    /// The duration for which the subscriber at the end of this edge has suspended its senders, or
    /// `nil` if it does not.
    ///
    /// See ``BroadcastSource/slowSubscribers``.
    public let stall: Duration?
    /// The number of updates that the buffers at the end of this edge have dropped.
    package var droppedUpdates = 0
    /// The number of callbacks that have not returned.
    package var callsInProgress = 0
  }

  /// A snapshot of the graph.
  public struct Snapshot: Hashable, Sendable {
    /// The nodes, oldest first.
    public let nodes: [Node]
    /// The edges.
    ///
    /// Edges to the oldest node come first.
    public let edges: [Edge]
  }
}
