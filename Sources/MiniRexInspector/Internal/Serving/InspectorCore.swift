internal import Foundation
internal import MiniRex
internal import MiniRexDispatchAdapters
internal import MiniRexPageServer
internal import MiniRexStore

/// Answers requests, and publishes the events of the pages.
final class InspectorCore: Sendable {
  /// The queue that encodes states and draws the graph, so that neither delays the program.
  let queue = DispatchQueue(label: "MiniRexInspector")
  let settings: Settings

  private struct State: Sendable {
    var stores: [WatchedStore] = []
    var ready: [Condition] = []
    var live: [Condition] = []
    var measurements: [Measurement] = []
    var alwaysRecorded: Set<Int> = []
    var hasPages = false
    var hasEnded = false
    /// The graph that was last sent to the pages.
    var graph = GraphPicture.Contents()
    var sent: [Int: StoreUpdate] = [:]
    /// The time of the last event, and the processor time for events.
    var lookTime: ContinuousClock.Instant?
    var budget: WorkBudget
  }

  let graph: LiveGraph
  private let picture: GraphPicture
  private let state: Lock<State>
  private let updates: Lock<Broadcaster<PageUpdate>?> = Lock(nil)

  init(of graph: LiveGraph, _ settings: Settings) {
    self.graph = graph
    self.settings = settings
    picture = GraphPicture(of: graph, settings)
    state = Lock(
      State(budget: WorkBudget(share: settings.eventsShare, limit: settings.burst, few: 0)))
  }

  func watch<StoreState, Action>(
    _ store: Store<StoreState, Action>, name: String?, earlierCommits: Int, alwaysRecorded: Bool
  ) {
    let store = WatchedStore(
      store, name: name ?? store.instrumentName ?? "\(StoreState.self)",
      earlierCommits: earlierCommits,
      queue, settings)
    let begins = state.withLock { state in
      state.stores.append(store)
      if alwaysRecorded { state.alwaysRecorded.insert(state.stores.count - 1) }
      return !state.hasEnded && (alwaysRecorded || state.hasPages)
    }
    if begins { store.begin() }
  }

  func add(_ measurement: Measurement) { state.withLock { $0.measurements.append(measurement) } }

  var measurements: [Measurement] { state.withLock { $0.measurements } }

  func addReady(_ condition: Condition) { state.withLock { $0.ready.append(condition) } }

  func addLive(_ condition: Condition) { state.withLock { $0.live.append(condition) } }

  var stores: [WatchedStore] { state.withLock { $0.stores } }

  func end() {
    let stores = state.withLock { state in
      state.hasEnded = true
      return state.stores
    }
    for store in stores { store.end() }
    picture.end()
  }
}

// Answers to requests.
extension InspectorCore {
  func answer(_ request: Request) -> Reply {
    if request.method != "GET" { return .status(.notAllowed, because: "Use GET.") }
    return answer(get: request.path)
  }

  func answer(get path: String) -> Reply {
    switch path {
    case "/": return .page(Data(InspectorPage.html))
    case "/events": return .events(events, .beginsAnew)
    case "/tree": return .content("text/plain; charset=utf-8", Data(graph.tree().utf8))
    case "/session": return .content("application/json", json(session()))
    case "/metrics": return metrics()
    case "/ready": return answer("ready", state.withLock { $0.ready })
    case "/live": return answer("live", state.withLock { $0.live })
    default:
      let words = path.utf8.split(separator: UInt8(ascii: "/"))
      guard words.count == 4, let store = Int(Substring(words[1])),
        let number = Int(Substring(words[3])),
        path == "/stores/\(store)/commits/\(number)",
        let commit = commit(number, of: store)
      else { return .status(.notFound) }
      return .content("application/json", commit)
    }
  }

  private func commit(_ number: Int, of store: Int) -> Data? {
    let stores = stores
    guard stores.indices.contains(store) else { return nil }
    let log = stores[store].commits
    return CommitDetail(number, in: log, settings.paths).map(json)
  }

  /// The content of all logs, which a page can show again later and elsewhere.
  private func session() -> SessionFile {
    let logs = stores.enumerated().map { ($0, $1, StoreUpdate($0, $1)) }
    return SessionFile(
      graph: picture.look(), stores: logs.map { SessionFile.Store($2, $1.commits, settings.paths) })
  }

  private var events: Broadcaster<Data> {
    let updates = updates.withLock { updates in
      let shared = updates ?? makeUpdates()
      updates = shared
      return shared
    }
    return updates.scan(nil as Data?) { $0 == nil ? $1.whole() : $1.change }.compactMap { event in
      event.flatMap { $0.isEmpty ? nil : $0 }
    }
  }
}

// Events of pages.
extension InspectorCore {
  /// Makes a broadcaster that polls the program while pages are open, once for all pages.
  private func makeUpdates() -> Broadcaster<PageUpdate> {
    Broadcaster { [weak self] receive in
      guard let self else { return .ended }
      begin()
      let timer = withInstrument(Unwatched()) {
        queue.broadcaster(every: settings.interval).subscribe { [weak self] _ in
          self?.look().map(receive)
        }
      }
      queue.async { [weak self] in
        self?.look(isFirst: true).map(receive)
      }
      return Subscription { [weak self] in
        timer.invalidate()
        self?.stop()
      }
    }.share()
  }

  private func begin() {
    let stores = state.withLock { state in
      state.hasPages = !state.hasEnded
      return state.hasPages
        ? state.stores.indices.filter { !state.alwaysRecorded.contains($0) }.map {
          state.stores[$0]
        }
        : []
    }
    for store in stores { store.begin() }
  }

  private func stop() {
    let stores = state.withLock { state in
      state.hasPages = false
      return state.stores.indices.filter { !state.alwaysRecorded.contains($0) }.map {
        state.stores[$0]
      }
    }
    for store in stores { store.end() }
    picture.end()
  }

  /// Returns the changes since the last call, or `nil` if events have exceeded their share of a processor.
  ///
  /// Runs on the queue.
  private func look(isFirst: Bool = false) -> PageUpdate? {
    let now = ContinuousClock.now
    let isEarly = state.withLock { state in
      let isEarly = state.lookTime.map { now - $0 < settings.rates } ?? false
      if !isFirst, isEarly, state.budget.isExceeded { return true }
      state.lookTime = now
      return false
    }
    if isEarly { return nil }
    let start = threadTime()
    let update = makeUpdate()
    state.withLock { $0.budget.spend(threadTime() - start, at: .now) }
    return update
  }

  private func makeUpdate() -> PageUpdate {
    let graph = picture.look()
    let stores = state.withLock { $0.stores }
    for store in stores { store.endEffectsWithStore() }
    let logs = stores.enumerated().map { StoreUpdate($0, $1) }
    let (oldGraph, old) = state.withLock { ($0.graph, $0.sent) }
    var change = PageEvents()
    if graph != oldGraph {
      change.graph = graph
      if graph.shape == oldGraph.shape { change.graph?.shape = nil }
    }
    change.stores = logs.compactMap { $0.since(old[$0.id]) }
    state.withLock { state in
      state.graph = graph
      for store in logs { state.sent[store.id] = store.head }
    }
    return PageUpdate(
      change: change.isEmpty ? Data() : change.event("changes"),
      all: PageEvents(graph: graph, stores: logs))
  }
}

/// The changes for open pages, and the entire content for new pages.
struct PageUpdate: Sendable {
  let change: Data
  let all: PageEvents

  func whole() -> Data { Data("retry: 1000\n".utf8) + all.event("all") }
}

func json(_ value: some Encodable) -> Data {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return (try? encoder.encode(value)) ?? Data()
}
