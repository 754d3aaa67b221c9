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

let lines = BroadcastSource<Line>(name: "lines")
// Shared, so that one search serves two subscribers.
let matching =
  options.match.map { text in lines.publisher.filter { $0.contains(text) }.share() } ?? .never

let bag = SubscriptionBag()
matching.subscribe { print(lineStart + String(decoding: $0, as: UTF8.self)) }.store(in: bag)
pieces.publisher.subscribe { piece in
  for line in piece.lines { lines.broadcast(line) }
  // What has been printed is seen at once.
  if fflush(nil) != 0 {
    complain("minirex-tail: cannot write\n")
    exit(1)
  }
} onEnd: {
  lines.end()
}.store(in: bag)
notices.publisher.subscribe { complain("\(lineStart)minirex-tail: \($0.text)\n") }.store(in: bag)
let hasFailed = notices.publisher.filter(\.isFailure).map { _ in true }
  .publishedValue(initial: false)

extension Publisher where Kind == BroadcasterKind {
  /// The sum of what is delivered from now on.
  func sum(_ amount: @escaping @Sendable (Update) -> Int) -> PublishedValue<Int> {
    scan(0) { $0 + amount($1) }.publishedValue(initial: 0)
  }
}

let summary = combineLatest(
  pieces.publisher.sum { $0.lines.count }, pieces.publisher.sum { $0.byteCount },
  matching.sum { _ in 1 }, lines.publisher.sum { _ in 1 }
) { "lines: \($0)\nbytes: \($1)\nmatches: \($2)\nupdates: \($3)" }

let names = options.files.map { FollowedName($0) }
// Any number of hints, while files are read, are one.
let looks = hints.publisher.values(.bufferingNewest(1))
let reading = Task {
  for name in names {
    try await name.look(once: options.isOnce)
    // Now, not in the end: there may be more of them than files can be open.
    if options.isOnce { name.close() }
  }
  if options.isOnce { return }
  for await _ in looks {
    for name in names { try await name.look(once: false) }
  }
}
DispatchSource.signals(SIGINT, SIGTERM).subscribeOnce { _ in reading.cancel() }
// Fails if the signal comes while a file is read for the first time.
try? await reading.value
// What was written before the signal.
for name in names where name.isBegun { try? await name.look(once: false) }
for name in names { name.close() }

// While everybody is still subscribed.
if let graph, let file = options.graph {
  do {
    try graph.dot().write(toFile: file, atomically: false, encoding: .utf8)
  } catch {
    notices.broadcast(("\(file): \(error.localizedDescription)", true))
  }
}
// Where reading was stopped, the last of it may still be on its way to everybody.
let rest = pieces.publisher.values(.bufferingNewest(1))
pieces.end()
for await _ in rest {}
print(lineStart + (summary.current() ?? ""))
exit(hasFailed.current() == true ? 1 : 0)
