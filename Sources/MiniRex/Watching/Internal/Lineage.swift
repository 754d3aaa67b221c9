public import Synchronization

/// The origin of an observed publisher.
///
/// A publisher without an instrument has none.
///
/// It is a node of the graph, if the instrument has a graph.
@usableFromInline
package final class Lineage: Sendable {
  package typealias Role = LiveGraph.Role

  private static let lastID = Atomic(0)

  let id = Lineage.newID()
  let role: Role
  package let name: String
  let place: CodePlace?
  /// The names of the sources, for events.
  let sourceName: String
  private let constantInputs: [Lineage]
  /// The record of a computed value.
  let computed: ComputedWatch?
  /// The record of a resource.
  let resource: ResourceWatch?
  let instrument: any Instrument
  let graph: LiveGraph?
  /// The counts of a node that events name, if there is a graph.
  let counts: OriginCounts?

  let subscriberCount = Atomic(0)
  private let isGone = Atomic(false)
  private let backlog: Lock<BacklogThreshold>
  let edges = Lock<[Int: LineageEdgeRecord]>([:])
  /// The buffers downstream of this node.
  let gauges = Lock<[ObjectIdentifier: WeakGauge]>([:])
  /// The delivery of the source, or a delivery in which updates of this node were queued.
  let waiting = Lock(WeakDelivery())

  init(
    _ role: Role, _ name: String, at place: CodePlace?, inputs: [Lineage],
    computed: ComputedWatch? = nil, resource: ResourceWatch? = nil, instrument: any Instrument,
    graph: LiveGraph?
  ) {
    self.role = role
    self.name = name
    self.place = place
    constantInputs = inputs
    sourceName = inputs.isEmpty ? name : Lineage.joinedNames(of: inputs)
    self.computed = computed
    self.resource = resource
    self.instrument = instrument
    self.graph = graph
    let isOrigin = role == .source || role == .trace || role == .operation && inputs.count > 1
    counts =
      graph != nil && isOrigin
      ? OriginCounts(LiveGraph.Totals.Key(role: role, name: name, place: place)) : nil
    backlog = Lock(BacklogThreshold(limit: instrument.backlogLimit))
    graph?.add(self)
  }

  deinit {
    graph?.remove(id)
  }

  /// Returns the different source names of several inputs, at most three of them.
  private static func joinedNames(of inputs: [Lineage]) -> String {
    if inputs.count == 1 { return inputs[0].sourceName }
    var names: [String] = []
    for input in inputs where !names.contains(input.sourceName) { names.append(input.sourceName) }
    let shown = names.prefix(3).joined(separator: ", ")
    return names.count > 3 ? "\(shown), …" : shown
  }

  static func newID() -> Int {
    lastID.add(1, ordering: .relaxed).newValue
  }

  /// The node that events name: the source, the trace, or the operator that joins several sources.
  @usableFromInline
  var origin: Lineage {
    role == .operation && constantInputs.count == 1 ? constantInputs[0].origin : self
  }

  /// The publishers that this one is made of.
  ///
  /// Those of a computed value change.
  var inputs: [Lineage] { computed?.inputs ?? constantInputs }

  package var isInGraph: Bool { graph != nil }

  var hasEnded: Bool { isGone.load(ordering: .relaxed) }
}

extension Lineage {
  /// Returns the lineage of a new source, or `nil` without an instrument.
  @inlinable
  package static func ofSource(
    _ name: @autoclosure () -> String, instrument: (any Instrument)? = nil, _ fileID: String,
    _ line: Int
  ) -> Lineage? {
    if instrument == nil, !CurrentInstrument.isKnown.load(ordering: .acquiring) { return nil }
    return watched(.source, name(), instrument: instrument, fileID, line)
  }

  /// Returns the lineage of a new resource, or `nil` without an instrument.
  static func ofResource(
    _ name: String?, _ type: Any.Type, instrument: (any Instrument)?, _ fileID: String, _ line: Int
  ) -> Lineage? {
    if instrument == nil, !CurrentInstrument.isKnown.load(ordering: .acquiring) { return nil }
    return watched(
      .source, name ?? "\(type)", resource: ResourceWatch(), instrument: instrument, fileID, line)
  }

  /// Returns the lineage of a source or a trace, for the given or the current instrument.
  @usableFromInline
  static func watched(
    _ role: LiveGraph.Role, _ name: String, of upstream: Lineage? = nil,
    resource: ResourceWatch? = nil, instrument: (any Instrument)?, _ fileID: String, _ line: Int
  ) -> Lineage? {
    guard let instrument = instrument ?? CurrentInstrument.current else { return nil }
    return Lineage(
      role, name, at: CodePlace(fileID: fileID, line: line), inputs: upstream.map { [$0] } ?? [],
      resource: resource, instrument: instrument, graph: instrument.graph ?? upstream?.graph)
  }

  /// Returns the lineage of a computed value, or `nil` without an instrument.
  @usableFromInline
  static func ofComputed(
    _ name: String?, instrument: (any Instrument)?, _ fileID: String, _ line: Int
  ) -> Lineage? {
    if instrument == nil, !CurrentInstrument.isKnown.load(ordering: .acquiring) { return nil }
    guard let instrument = instrument ?? CurrentInstrument.current else { return nil }
    return Lineage(
      .operation, name ?? "computed", at: CodePlace(fileID: fileID, line: line), inputs: [],
      computed: ComputedWatch(), instrument: instrument, graph: instrument.graph)
  }

  /// Returns the lineage of an operator with several inputs, or `nil` if none of them is observed.
  ///
  /// - Parameter function: The value of `#function`. Its first word is the name.
  @usableFromInline
  package static func ofOperation(
    _ function: String = #function, on inputs: [Lineage]
  ) -> Lineage? {
    guard let first = inputs.first else { return nil }
    return Lineage(
      .operation, String(function.prefix { $0 != "(" }), at: nil, inputs: inputs,
      instrument: first.instrument, graph: first.graph)
  }

  /// Returns the lineage of an operator with one input.
  ///
  /// Not inlined: a branch in each operator would prevent the optimizer from merging a chain.
  @usableFromInline @inline(never)
  package static func ofOperation(_ function: String, on input: Lineage?) -> Lineage? {
    input.flatMap { ofOperation(function, on: [$0]) }
  }
}

extension Lineage {
  /// - Parameter operation: The owner of the buffer that the event is about.
  func record(
    _ kind: InstrumentEvent.Kind, by context: WatchContext? = nil, in operation: String? = nil
  ) {
    if case .dropped(let count) = kind { counts?.drops.add(count, ordering: .relaxed) }
    instrument.record(
      InstrumentEvent(
        kind: kind, label: name, source: sourceName, operation: operation, place: place, origin: id,
        subscription: context?.subscription, subscriber: context?.place))
  }

  /// Records an effect of a store that threw an error.
  package func effectHasFailed(_ error: String) {
    counts?.failures.add(1, ordering: .relaxed)
    record(.failed(error))
  }

  @usableFromInline
  package func sourceHasEnded() {
    if !isGone.exchange(true, ordering: .relaxed) { record(.sourceFinished) }
  }

  /// Records an update that the sending thread did not deliver.
  @usableFromInline
  func updateWasNotDelivered(by delivery: AnyDelivery) {
    let (hasEnded, depth) = delivery.lock.withLock { state in
      (state.schedule.hasEnded, state.tickets.count)
    }
    if hasEnded { record(.dropped(1)) } else { updatesWait(depth, in: delivery) }
  }

  /// Records a value that the sending thread did not deliver.
  ///
  /// It is queued, or superseded, but not lost.
  @usableFromInline
  package func valueWasNotDelivered(by delivery: AnyDelivery) {
    updatesWait(delivery.pendingUpdates, in: delivery)
  }

  /// Records a result sent to a task source.
  ///
  /// The first result finishes it.
  @usableFromInline
  func taskHasFinished(_ isAccepted: Bool, by delivery: AnyDelivery) {
    if isAccepted {
      updatesWait(delivery.pendingUpdates, in: delivery)
      sourceHasEnded()
    } else {
      record(.dropped(1))
    }
  }

  /// Lets a graph read the queue and the subscribers of a source.
  @usableFromInline
  func watch(_ delivery: AnyDelivery) {
    if graph != nil { waiting.withLock { $0.delivery = delivery } }
  }

  private func updatesWait(_ depth: Int, in delivery: AnyDelivery) {
    watch(delivery)
    if backlog.withLock({ $0.mustTell(depth) }) { record(.backlog(depth)) }
  }
}
