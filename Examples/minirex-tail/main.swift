import Foundation
import MiniRex
import MiniRexFoundationAdapters

guard let options = Options(CommandLine.arguments.dropFirst()) else {
  complain(Options.usage + "\n")
  exit(2)
}

// It sees the sources that are made from now on. Without it nothing is watched, and nothing paid.
let graph = options.graph.map { _ in LiveGraph() }
if let graph { setDefaultInstrument(graph) }

let findings = Findings()
let pieces = findings.pieces.publisher
let notices = findings.notices.publisher
let bag = SubscriptionBag()

let lines = BroadcastSource<Line>(name: "lines")
pieces.subscribe { piece in
  for line in piece.lines { lines.broadcast(line) }
} onEnd: {
  lines.end()
}.store(in: bag)

// Shared, so that one search serves two subscribers.
let matching = options.match.map { text in
  lines.publisher.filter { $0.contains(text) }.share()
}
let isTerminal = isatty(STDOUT_FILENO) == 1 && isatty(STDERR_FILENO) == 1
let lineStart = isTerminal ? eraseLine : ""
matching?.subscribe { print(lineStart + String(decoding: $0, as: UTF8.self)) }.store(in: bag)
pieces.subscribe { _ in flushOutput() }.store(in: bag)

notices.subscribe { complain("\(lineStart)\($0.text)\n") }.store(in: bag)
let exitStatus = notices.filter(\.isFailure).map { _ in Int32(1) }.publishedValue(initial: 0)

let none = PublishedValue.constant(0)
let summary = combineLatest(
  pieces.sum { $0.lines.count }, pieces.sum { $0.byteCount }, matching?.sum { _ in 1 } ?? none,
  lines.publisher.sum { _ in 1 }
) { "lines: \($0)\nbytes: \($1)\nmatches: \($2)\nupdates: \($3)" }

let names = options.files.map { FollowedName($0, findings) }
let hints = findings.hints.publisher.values(.bufferingNewest(1))
let reading = Task {
  for name in names {
    try await name.look(once: options.isOnce)
    // Now, not in the end: there may be more of them than files can be open.
    if options.isOnce { name.close() }
  }
  if options.isOnce { return }
  for await _ in hints {
    for name in names { try await name.look(once: false) }
  }
}
DispatchSource.signals(SIGINT, SIGTERM).subscribeOnce { _ in reading.cancel() }
do {
  try await reading.value
  // What was written before the signal.
  for name in names where !options.isOnce { try await name.look(once: false) }
} catch {
  // The signal came while a file was read for the first time.
}
for name in names { name.close() }

var hasFailed = false
if let graph, let file = options.graph {
  do {
    // While everybody is still subscribed.
    try graph.dot().write(toFile: file, atomically: false, encoding: .utf8)
  } catch {
    complain("minirex-tail: \(file): \(error.localizedDescription)\n")
    hasFailed = true
  }
}

// Where a file was read, the last of it may still be on its way to everybody.
let rest = pieces.values(.bufferingNewest(1))
findings.pieces.end()
for await _ in rest {}
print(lineStart + (summary.current() ?? ""))
flushOutput()
exit(hasFailed ? 1 : exitStatus.current() ?? 0)

extension Publisher where Kind == BroadcasterKind {
  /// The sum of what has been delivered from now on.
  func sum(_ amount: @escaping @Sendable (Update) -> Int) -> PublishedValue<Int> {
    scan(0) { $0 + amount($1) }.publishedValue(initial: 0)
  }
}
