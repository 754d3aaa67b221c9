#if NATS
internal import Dispatch
internal import Foundation
internal import MiniRex
internal import MiniRexDispatchAdapters
internal import MiniRexInspector
internal import MiniRexNATS
internal import MiniRexPageServer

/// Receives the reports of a fleet, and answers browsers.
final class FleetCore: Sendable {
  private let roster = Lock(Roster(Roster.Limits()))
  private let page: [UInt8]
  private let probe: ServerProbe
  private let forwarder: InspectorForwarder
  private let queue = DispatchQueue(label: "MiniRexFleet.page")
  private let updates = BroadcastSource<FleetUpdate>(name: "fleet")
  private let bag = SubscriptionBag()

  init(of fleet: String, over nats: NATSConnection) {
    page = FleetPageText.html(of: fleet)
    probe = ServerProbe(nats, of: fleet)
    forwarder = InspectorForwarder(of: fleet, over: nats)
    let reports = FleetSubject.report(fleet, "*")
    // `Data` is received unchanged.
    nats.broadcaster(of: Data.self, on: reports).subscribe { [weak self] message in
      self?.take(message)
    }.store(in: bag)
    queue.broadcaster(every: .seconds(1)).subscribe { [weak self] _ in self?.tick() }.store(in: bag)
  }

  func end() {
    bag.invalidate()
    probe.end()
    updates.end()
  }

  private func take(_ message: NATSMessage<Data>) {
    let id = message.subject.split(separator: ".").last ?? ""
    let bytes = [UInt8](message.payload.prefix(ReceivedReport.limit + 1))
    roster.withLock { $0.take(bytes, from: id, at: .now) }
  }

  private func tick() {
    let now = ContinuousClock.now
    let answers = probe.answers(at: now)
    let update = roster.withLock { roster in
      let (changed, removed) = roster.tick(at: now, serverAnswers: answers)
      return FleetUpdate(
        serverAnswers: answers, refusedCount: roster.refusedCount, changed: changed,
        removed: removed, rows: roster.rows, time: now)
    }
    updates.broadcast(update)
  }

  private var events: Broadcaster<Data> {
    let updates = updates.publisher
    return Broadcaster { [weak self] receive in
      let subscription = updates.subscribe(receive)
      // The first event follows immediately, instead of with the next tick.
      self?.queue.async { self?.tick() }
      return subscription
    }.scan(nil as Data?) { (old: Data?, update: FleetUpdate) in
      old == nil ? update.whole() : update.change()
    }.compactMap { $0 }
  }

  func answer(_ request: Request) async -> Reply {
    if request.method != "GET" { return .status(.notAllowed, because: "Use GET.") }
    switch request.path {
    case "/": return .page(Data(page))
    case "/events": return .events(withInstrument(Unwatched()) { events }, .beginsAnew)
    default: break
    }
    let words = request.path.split(
      separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    guard words.count == 4, words[1] == "process", FleetSubject.isPart(words[2]) else {
      return .status(.notFound)
    }
    let id = String(words[2])
    switch roster.withLock({ $0.rows[id]?.report.isInspected }) {
    case nil: return .status(.notFound, because: "The fleet has no such process.")
    case false?: return .status(.notFound, because: "The process has no inspector.")
    case true?: return await forwarder.answer("/\(words[3])", of: id)
    }
  }
}
#endif
