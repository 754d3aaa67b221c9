#if NATS
internal import Dispatch
internal import Foundation
internal import MiniRex
internal import MiniRexDispatchAdapters
internal import MiniRexInspector
internal import MiniRexNATS

/// Reports the state of this process.
final class MemberCore: Sendable {
  private struct State: Sendable {
    var conditions: [(name: String, isMet: @Sendable () -> Bool)] = []
    var replicas: [@Sendable () -> ReplicaReport?] = []
    var trouble: MemberReport.Trouble?
    var usage: (usage: ProcessUsage, time: ContinuousClock.Instant)?
    var rates = SubscriptionRates()
    /// The time of the next measurement of the graph.
    var nextMeasurement: ContinuousClock.Instant?
  }

  let endpoint: InspectorEndpoint?
  /// The subscriptions to the troubles of replicas and of the connection.
  let bag = SubscriptionBag()
  private let nats: NATSConnection
  private let graph: LiveGraph?
  private let subject: String
  private let base: MemberReport
  private let queue = DispatchQueue(label: "MiniRexFleet.member")
  private let state = Lock(State())

  init(
    _ id: String, of fleet: String, over nats: NATSConnection, name: String, version: String,
    inspecting graph: LiveGraph?
  ) {
    (self.nats, self.graph) = (nats, graph)
    subject = FleetSubject.report(fleet, id)
    base = MemberReport(
      name: shortened(name.isEmpty ? "unnamed" : name, to: 64), version: shortened(version, to: 32),
      host: shortened(ProcessUsage.host, to: 64), process: getpid(), started: Date().milliseconds,
      isInspected: graph != nil)
    let endpoint = graph.map {
      InspectorEndpoint(InspectorWithoutPort(of: $0), of: fleet, over: nats)
    }
    self.endpoint = endpoint
    nats.service(
      "minirex", id: id, version: version, description: "A process of the fleet \(fleet).",
      metadata: ["fleet": fleet, "name": base.name, "host": base.host]
    ) { service in
      guard let endpoint else { return }
      service.endpoint("inspect", on: FleetSubject.inspect(fleet, id)) { endpoint.answer($0) }
    }.store(in: bag)
    nats.diagnostics.subscribe { [weak self] in
      self?.note("\($0)".replacing("MiniRexNATS.NATSError.", with: ""))
    }.store(in: bag)
    queue.broadcaster(every: .seconds(2)).subscribe { [weak self] _ in self?.report() }
      .store(in: bag)
    // The first report does not wait for the first tick.
    nats.status.filter { $0 == .connected }.subscribe { [weak self] _ in
      self?.queue.async { self?.report() }
    }.store(in: bag)
  }

  /// Leaves the fleet.
  func end() {
    bag.invalidate()
    let last = base.leaving.encoded()
    let leave = { @Sendable [nats, subject] in
      if nats.isReady.current() == true { try? nats.publish(last, on: subject) }
    }
    leave()
    // On the queue, after a report in progress, which would bring the row back.
    queue.async(execute: leave)
  }

  func addCondition(_ name: String, _ isMet: @escaping @Sendable () -> Bool) {
    state.withLock { $0.conditions.append((shortened(name, to: 40), isMet)) }
  }

  func addReplica(_ report: @escaping @Sendable () -> ReplicaReport?) {
    state.withLock { $0.replicas.append(report) }
  }

  func note(_ trouble: String) {
    let text = shortened(trouble, to: 200)
    state.withLock { $0.trouble = MemberReport.Trouble(text: text, time: Date().milliseconds) }
  }

  /// Publishes a report.
  ///
  /// Runs on the queue.
  private func report() {
    // A queued report would be old when it is sent.
    guard nats.isReady.current() == true else { return }
    let now = ContinuousClock.now
    let usage = ProcessUsage.current
    var report = base
    let (conditions, replicas, old, trouble) = state.withLock { state in
      defer { state.usage = (usage, now) }
      return (state.conditions, state.replicas, state.usage, state.trouble)
    }
    report.memory = usage.memory
    if let old {
      let share = (usage.processorTime - old.usage.processorTime) / old.time.duration(to: now)
      report.processor = share.isFinite ? (share * 1_000).rounded() / 1_000 : 0
    }
    report.trouble = trouble
    report.unready = conditions.filter { !$0.isMet() }.prefix(4).map(\.name)
    let states = replicas.compactMap { $0() }
    report.replicas = Array(states.prefix(ReceivedReport.replicaLimit))
    let loads = measureGraph(at: now)
    let statistics = nats.statistics
    let (subscriptions, omitted, drops) = state.withLock { state in
      let (reports, omitted) = state.rates.measure(loads, statistics, at: now)
      return (reports, omitted, state.rates.dropCount)
    }
    (report.subscriptions, report.drops) = (subscriptions, drops)
    report.omitted = omitted + states.count - report.replicas.count
    report.time = Date().milliseconds
    try? nats.publish(report.encoded(), on: subject)
  }

  /// Returns the counts of the graph, or `nil` if measuring it now would take more than 1 % of the time.
  private func measureGraph(at now: ContinuousClock.Instant) -> [LiveGraph.Load]? {
    guard let graph else { return [] }
    let isDue = state.withLock { $0.nextMeasurement.map { $0 <= now } ?? true }
    if !isDue { return nil }
    let loads = graph.loads()
    let end = ContinuousClock.now
    state.withLock { $0.nextMeasurement = end + (end - now) * 100 }
    return loads
  }
}
#endif
