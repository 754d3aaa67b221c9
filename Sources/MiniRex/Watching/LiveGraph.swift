/// The sources, operators and subscriptions that live now, with what flows between them.
///
/// ```swift
/// let graph = LiveGraph()
/// setDefaultInstrument(graph)
/// // … the program runs …
/// print(graph.tree())
/// ```
///
/// It sees what is made of sources, adapters and traces that are watched by an ``Instrument`` whose
/// `graph` it is; it is such an instrument itself. It sees each subscription that is made through
/// MiniRex, but not what a callback does with an update: a source that another one's subscriber
/// broadcasts to is not joined to it by an edge. A chain belongs to the graph of its first source.
///
/// It keeps nothing alive. Each operator, subscription and delivery of what it watches costs a
/// little more than it would otherwise.
public final class LiveGraph: Instrument {
  private struct Entry: Sendable {
    weak var lineage: Lineage?
  }

  private let entries = Lock<[Int: Entry]>([:])
  let now: @Sendable () -> Duration

  /// Makes an empty graph.
  ///
  /// - Parameter clock: What rates are measured with.
  public init(clock: any Clock<Duration> = ContinuousClock()) {
    now = Timekeeper(clock).now
  }

  /// The graph itself.
  public var graph: LiveGraph? { self }

  /// Does nothing: what is drawn is not told by events.
  public func record(_ event: InstrumentEvent) {}

  func add(_ lineage: Lineage) {
    entries.withLock { $0[lineage.id] = Entry(lineage: lineage) }
  }

  func remove(_ id: Int) {
    entries.withLock { _ = $0.removeValue(forKey: id) }
  }

  /// What lives now, oldest first; the last reference to it must not go under a lock.
  var lineages: [Lineage] {
    entries.withLock { entries in entries.values.compactMap(\.lineage) }.sorted { $0.id < $1.id }
  }
}

extension LiveGraph {
  /// What a node stands for.
  public enum Role: Hashable, Sendable {
    /// Somewhere updates come from.
    case source
    /// Something between, such as `map`.
    case operation
    /// A publisher with a label.
    case trace
    /// Somewhere updates go to.
    case subscription
  }

  /// A source, an operator, a trace or a subscription.
  public struct Node: Hashable, Identifiable, Sendable {
    /// Its number: a later one was made later.
    public let id: Int
    /// What it stands for.
    public let role: Role
    /// The name of the source, or its type if it has none; the name of the operator or of the form
    /// of `subscribe`; the label of the trace.
    public let name: String
    /// Where it is written; `nil` for operators.
    public let place: CodePlace?
    /// How many are subscribed to it, directly or by an operator; `nil` except for sources and
    /// traces.
    public let subscriberCount: Int?
    /// How many updates of the source wait for the thread that delivers; 0 if it is none.
    public let pendingUpdates: Int

    package init(
      id: Int, role: Role, name: String, place: CodePlace?, subscriberCount: Int? = nil,
      pendingUpdates: Int = 0
    ) {
      self.id = id
      self.role = role
      self.name = name
      self.place = place
      self.subscriberCount = subscriberCount
      self.pendingUpdates = pendingUpdates
    }
  }

  /// A way from one node to the next.
  public struct Edge: Hashable, Sendable {
    /// The node that calls.
    public let from: Int
    /// The node that is called.
    public let to: Int
    /// False while nobody is subscribed, so that nothing flows.
    public let isActive: Bool
    /// How many updates have gone this way; `nil` between two operators that the compiler makes
    /// one.
    public let updateCount: Int?
    /// How many went this way in a second, since the snapshot before, or since there is the edge;
    /// `nil` where they are not counted.
    public let updatesPerSecond: Double?
    /// How many updates have gone this way and wait at its end, for a loop, a queue or an actor.
    public let pendingUpdates: Int

    package init(
      from: Int, to: Int, isActive: Bool, updateCount: Int? = nil, updatesPerSecond: Double? = nil,
      pendingUpdates: Int = 0
    ) {
      self.from = from
      self.to = to
      self.isActive = isActive
      self.updateCount = updateCount
      self.updatesPerSecond = updatesPerSecond
      self.pendingUpdates = pendingUpdates
    }
  }

  /// A picture of the graph.
  public struct Snapshot: Hashable, Sendable {
    /// What lived, oldest first.
    public let nodes: [Node]
    /// The ways between them, those to the oldest node first.
    public let edges: [Edge]

    package init(nodes: [Node], edges: [Edge]) {
      self.nodes = nodes
      self.edges = edges
    }
  }
}
