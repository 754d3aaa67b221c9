public import Synchronization

/// Where a watched publisher comes from; a publisher that is not watched has none.
///
/// It is a node of the graph, if the instrument has one.
@usableFromInline
package final class Lineage: Sendable {
  package typealias Role = LiveGraph.Role

  private static let lastID = Atomic(0)

  let id = Lineage.newID()
  let role: Role
  package let name: String
  let place: CodePlace?
  let inputs: [Lineage]
  let instrument: any Instrument
  let graph: LiveGraph?

  let subscriberCount = Atomic(0)
  private let isGone = Atomic(false)
  private let backlog: Lock<BacklogThreshold>
  let edges = Lock<[Int: LineageEdgeRecord]>([:])
  /// Where updates wait that it gets.
  let gauges = Lock<[ObjectIdentifier: WeakGauge]>([:])
  /// Where updates have waited that it sends.
  let waiting = Lock(WeakDelivery())

  init(
    _ role: Role, _ name: String, at place: CodePlace?, inputs: [Lineage],
    instrument: any Instrument, graph: LiveGraph?
  ) {
    self.role = role
    self.name = name
    self.place = place
    self.inputs = inputs
    self.instrument = instrument
    self.graph = graph
    backlog = Lock(BacklogThreshold(limit: instrument.backlogLimit))
    graph?.add(self)
  }

  deinit {
    graph?.remove(id)
  }

  static func newID() -> Int {
    lastID.add(1, ordering: .relaxed).newValue
  }

  /// What an event is about: the source or trace, or what brings several of them together.
  @usableFromInline
  var origin: Lineage {
    role == .operation && inputs.count == 1 ? inputs[0].origin : self
  }

  var hasEnded: Bool { isGone.load(ordering: .relaxed) }
}

extension Lineage {
  /// Of a source that is made now; `nil` if no instrument watches.
  @inlinable
  package static func ofSource(
    _ name: @autoclosure () -> String, instrument: (any Instrument)? = nil, _ fileID: String,
    _ line: Int
  ) -> Lineage? {
    if instrument == nil, !InstrumentInForce.isKnown.load(ordering: .acquiring) { return nil }
    return watched(.source, name(), instrument: instrument, fileID, line)
  }

  /// Of a source or a trace, with the instrument that is given, or the one in force.
  @usableFromInline
  static func watched(
    _ role: LiveGraph.Role, _ name: String, of upstream: Lineage? = nil,
    instrument: (any Instrument)?, _ fileID: String, _ line: Int
  ) -> Lineage? {
    guard let instrument = instrument ?? InstrumentInForce.current else { return nil }
    return Lineage(
      role, name, at: CodePlace(fileID: fileID, line: line), inputs: upstream.map { [$0] } ?? [],
      instrument: instrument, graph: instrument.graph ?? upstream?.graph)
  }

  /// Of an operator that takes several publishers; `nil` if none of them is watched.
  ///
  /// - Parameter function: What `#function` tells, whose first word is the name.
  @usableFromInline
  package static func ofOperation(
    _ function: String = #function, on inputs: [Lineage]
  ) -> Lineage? {
    guard let first = inputs.first else { return nil }
    return Lineage(
      .operation, String(function.prefix { $0 != "(" }), at: nil, inputs: inputs,
      instrument: first.instrument, graph: first.graph)
  }

  /// Of an operator that takes one publisher.
  ///
  /// Not inlined: a branch in each operator would keep the optimiser from seeing through a chain.
  @usableFromInline @inline(never)
  package static func ofOperation(_ function: String, on input: Lineage?) -> Lineage? {
    input.flatMap { ofOperation(function, on: [$0]) }
  }
}

extension Lineage {
  func record(_ kind: InstrumentEvent.Kind, by context: WatchContext? = nil) {
    instrument.record(
      InstrumentEvent(
        kind: kind, label: name, place: place, origin: id, subscription: context?.subscription,
        subscriber: context?.place))
  }

  @usableFromInline
  package func sourceHasEnded() {
    if !isGone.exchange(true, ordering: .relaxed) { record(.sourceGone) }
  }

  /// After a source has sent an update that its thread did not deliver.
  @usableFromInline
  func updateWasNotDelivered(by delivery: AnyDelivery) {
    let (hasEnded, depth) = delivery.lock.withLock { state in
      (state.schedule.hasEnded, state.tickets.count)
    }
    if hasEnded { record(.dropped(1)) } else { updatesWait(depth, in: delivery) }
  }

  /// After a property has published a value that its thread did not deliver: that is not lost.
  @usableFromInline
  package func valueWasNotDelivered(by delivery: AnyDelivery) {
    updatesWait(delivery.pendingUpdates, in: delivery)
  }

  /// After a task source was told a result, the first of which ends it.
  @usableFromInline
  func taskHasFinished(_ isAccepted: Bool, by delivery: AnyDelivery) {
    if isAccepted {
      updatesWait(delivery.pendingUpdates, in: delivery)
      sourceHasEnded()
    } else {
      record(.dropped(1))
    }
  }

  private func updatesWait(_ depth: Int, in delivery: AnyDelivery) {
    if graph != nil { waiting.withLock { $0.delivery = delivery } }
    if backlog.withLock({ $0.mustTell(depth) }) { record(.backlog(depth)) }
  }
}
