internal import Foundation
internal import MiniRex
internal import MiniRexDispatchAdapters
internal import MiniRexPageServer

/// What pages are told, and when there is something to tell.
final class Inspection: Sendable {
  /// Where stores are encoded and the graph is drawn, so that nobody else waits for that.
  let queue = DispatchQueue(label: "MiniRexInspector")
  let settings: Settings

  private struct State: Sendable {
    var stores: [WatchedStore] = []
    var evenUnseen: Set<Int> = []
    var isLookedAt = false
    var hasEnded = false
    /// What pages know.
    var graph = GraphPicture.Told()
    var told: [Int: StoreNews] = [:]
  }

  private let graph: LiveGraph
  private let picture: GraphPicture
  private let state = Lock(State())
  private let news: Lock<Broadcaster<News>?> = Lock(nil)

  init(of graph: LiveGraph, _ settings: Settings) {
    self.graph = graph
    self.settings = settings
    picture = GraphPicture(of: graph, settings)
  }

  func add(_ store: WatchedStore, evenUnseen: Bool) {
    let begins = state.withLock { state in
      state.stores.append(store)
      if evenUnseen { state.evenUnseen.insert(state.stores.count - 1) }
      return !state.hasEnded && (evenUnseen || state.isLookedAt)
    }
    if begins { store.begin() }
  }

  func end() {
    let stores = state.withLock { state in
      state.hasEnded = true
      return state.stores
    }
    for store in stores { store.end() }
    picture.end()
  }
}

// Answers.
extension Inspection {
  func answer(_ request: Request, token: String?) -> Reply {
    if request.method != "GET" { return .status(.notAllowed, because: "This page only looks.") }
    if let token, !knows(token, request) {
      return .status(.forbidden, because: "Open the page with its token.")
    }
    switch request.path {
    case "/": return .content("text/html; charset=utf-8", page)
    case "/events": return .events(events, .beginsAnew)
    case "/tree": return .content("text/plain; charset=utf-8", Data(graph.tree().utf8))
    default:
      guard
        let match = request.path.wholeMatch(of: /\/stores\/([0-9]{1,9})\/commits\/([0-9]{1,18})/),
        let store = Int(match.1), let number = Int(match.2), let commit = commit(number, of: store)
      else { return .status(.notFound) }
      return .content("application/json", commit)
    }
  }

  /// Takes as long whatever is wrong with it.
  private func knows(_ token: String, _ request: Request) -> Bool {
    let given = request.query?.split(separator: "&").first { $0.hasPrefix("token=") }
    let bytes = Array((given?.dropFirst(6).removingPercentEncoding ?? "").utf8)
    let wanted = Array(token.utf8)
    if bytes.count != wanted.count { return false }
    return zip(bytes, wanted).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
  }

  /// Scripts run that this has written, and no others.
  private var page: Data {
    let text = String(decoding: PackageResources.page_html, as: UTF8.self)
    return Data(text.replacing("NONCE", with: randomWord() + randomWord()).utf8)
  }

  private func commit(_ number: Int, of store: Int) -> Data? {
    let stores = state.withLock { $0.stores }
    guard stores.indices.contains(store) else { return nil }
    let log = stores[store].commits
    return CommitTold(number, in: log, settings.paths).map(json)
  }

  private var events: Broadcaster<Data> {
    let news = news.withLock { news in
      let shared = news ?? makeNews()
      news = shared
      return shared
    }
    return news.scan(nil as Data?) { $0 == nil ? $1.whole() : $1.change }.compactMap { event in
      event.flatMap { $0.isEmpty ? nil : $0 }
    }
  }
}

// What is told.
extension Inspection {
  /// Looks while there are pages, for all of them at once.
  private func makeNews() -> Broadcaster<News> {
    Broadcaster { [weak self] receive in
      guard let self else { return .ended }
      begin()
      let timer = withInstrument(Unwatched()) {
        queue.broadcaster(every: settings.interval).subscribe { [weak self] _ in
          if let self { receive(look()) }
        }
      }
      queue.async { [weak self] in
        if let self { receive(look()) }
      }
      return Subscription { [weak self] in
        timer.invalidate()
        self?.stop()
      }
    }.share()
  }

  private func begin() {
    let stores = state.withLock { state in
      state.isLookedAt = !state.hasEnded
      return state.isLookedAt
        ? state.stores.indices.filter { !state.evenUnseen.contains($0) }.map { state.stores[$0] }
        : []
    }
    for store in stores { store.begin() }
  }

  private func stop() {
    let stores = state.withLock { state in
      state.isLookedAt = false
      return state.stores.indices.filter { !state.evenUnseen.contains($0) }.map { state.stores[$0] }
    }
    for store in stores { store.end() }
    picture.end()
  }

  /// On the queue.
  private func look() -> News {
    let graph = picture.look()
    let stores = state.withLock { $0.stores }
    let logs = stores.enumerated().map { StoreNews($0, $1) }
    let (oldGraph, old) = state.withLock { ($0.graph, $0.told) }
    var change = PageNews()
    if graph != oldGraph {
      change.graph = graph
      if graph.svg == oldGraph.svg { change.graph?.svg = nil }
    }
    change.stores = logs.compactMap { $0.since(old[$0.id]) }
    state.withLock { state in
      state.graph = graph
      for store in logs { state.told[store.id] = store.head }
    }
    return News(
      change: change.isEmpty ? Data() : change.event("news"),
      all: PageNews(graph: graph, stores: logs))
  }
}

/// What is new, and what there is, for those who come now.
struct News: Sendable {
  let change: Data
  let all: PageNews

  func whole() -> Data { Data("retry: 1000\n".utf8) + all.event("all") }
}

func json(_ value: some Encodable) -> Data {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return (try? encoder.encode(value)) ?? Data()
}
