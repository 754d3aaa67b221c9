import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexInspector
import MiniRexJournal
import MiniRexPageServer
import MiniRexStore

func fail(_ reason: String, status: Int32 = 1) -> Never {
  FileHandle.standardError.write(Data("\(reason)\n".utf8))
  exit(status)
}

@Sendable func realURL(_ path: String) -> URL {
  URL(filePath: path).standardizedFileURL.resolvingSymlinksInPath()
}

guard let options = Options(CommandLine.arguments.dropFirst()) else {
  fail(Options.usage, status: 2)
}
let directory = realURL(options.directory)
guard options.cards != nil || FileManager.default.fileExists(atPath: "\(directory.path)/.") else {
  fail("issue-board: \(options.directory): no such directory. Use --directory PATH.")
}

// The graph observes sources that are created from now on. Without it, no source is observed.
let graph = LiveGraph()
if options.graph != nil || options.inspect != nil { setDefaultInstrument(graph) }
let inspector: Inspector?
do {
  inspector = try options.inspect.map { try Inspector(of: graph, port: $0) }
} catch {
  fail("issue-board: port \(options.inspect ?? 0): \(error.localizedDescription)")
}

@Sendable func draw() {
  do {
    try options.graph.map { try graph.dot().write(toFile: $0, atomically: false, encoding: .utf8) }
  } catch {
    fail("issue-board: \(options.graph ?? ""): \(error.localizedDescription)")
  }
}

@Sendable func makeSession() -> Session {
  do {
    let history = JournalHistory.last(commits: options.keptCommits ?? 100_000)
    let journal = try options.journal.map {
      try Journal<Board, BoardAction>(URL(filePath: $0), keeping: history)
    }
    let outside =
      options.cards.map { Outside(generating: $0) }
      ?? Outside(directory, except: options.journal.map(realURL), clock: ContinuousClock())
    let earlierCommits = journal?.lastNumber ?? 0
    let session = try Session(outside, journal)
    inspector?.watch(session.store, earlierCommits: earlierCommits, alwaysRecords: true)
    return session
  } catch {
    fail("issue-board: \(options.journal ?? ""): \(error)")
  }
}

let running: Task<Void, Never>
if let port = options.port {
  var limits = Limits()
  // The changes of five seconds, in which a browser can receive 100,000 cards. A small buffer would
  // wait for an acknowledgment of each part.
  limits.events = 256
  limits.buffer = 1 << 20
  guard let server = PageServer(port: port, limits: limits) else {
    let reason = unsafe String(cString: strerror(errno))
    fail("issue-board: port \(port): \(reason). Use --port NUMBER.")
  }
  running = Task {
    let session = makeSession()
    let pages = Pages(session)
    session.store.send(.look)
    let generating = session.store.changeRandomly(options.changes)
    defer { generating?.invalidate() }
    await server.serve { await pages.answer($0) }
    exit(0)
  }
  print("issue-board: http://127.0.0.1:\(server.port)/")
} else {
  running = Task {
    await useTerminal(makeSession, atEnd: draw)
    exit(0)
  }
}
if let inspector { print("issue-board: \(inspector.url) shows the inspector") }
fflush(nil)
DispatchSource.signals(SIGINT, SIGTERM).subscribeOnce { _ in
  // Draw while browsers are connected.
  if options.port != nil { draw() }
  running.cancel()
}
dispatchMain()  // In debug builds, top-level code that awaits leaks its values.
