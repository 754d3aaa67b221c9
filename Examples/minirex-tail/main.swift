import Foundation
import MiniRex
import Synchronization

let screen = Screen()
guard let options = Options(CommandLine.arguments.dropFirst()) else {
  screen.report(Options.usage)
  exit(2)
}

// It sees the sources that are made from now on. Without it nothing is watched, and nothing paid.
let graph = options.graph.map { _ in LiveGraph() }
if let graph { setDefaultInstrument(graph) }

let tail = Tail(options)
let lines = tail.lines.publisher
let looks = tail.looks.publisher
let notices = tail.notices.publisher
let bag = SubscriptionBag()

// What matches is broadcast again, so that one search serves two subscribers.
let matching = BroadcastSource<Line>(name: "matching")
if let text = options.match {
  lines.filter { $0.bytes.contains(text) }.subscribe { matching.broadcast($0) }.store(in: bag)
}
matching.publisher.subscribe { screen.print($0) }.store(in: bag)

// Each line is counted, but the counts are published once a look: nobody could read a status that
// changes with each of a million lines.
let tally = Mutex(Counts())
lines.subscribe { line in tally.withLock { $0.add(line) } }.store(in: bag)
matching.publisher.subscribe { _ in tally.withLock { $0.matches += 1 } }.store(in: bag)
let counts = looks.map { look in tally.withLock { $0.with(look) } }
  .publishedValue(initial: Counts())
looks.subscribe { _ in screen.flush() }.store(in: bag)

// What nobody sees costs nothing: without a status, nobody subscribes to the severities.
if !options.isOnce {
  lines.compactMap { Severity(firstIn: $0.bytes) }
    .subscribe { severity in tally.withLock { $0.severities[severity.rawValue] += 1 } }
    .store(in: bag)
  let status = combineLatest(
    counts.map(\.lines), counts.map(\.bytes), counts.map(\.matches),
    counts.map(\.severities).map(Severity.describe)
  ) { "\($0) lines, \($1) bytes, \($2) matching\($3)" }
  // Read once a look, because a look may change several counts.
  looks.compactMap { _ in status.current() }.removeDuplicates()
    .subscribe { screen.show($0) }
    .store(in: bag)
}

notices.subscribe { screen.report("minirex-tail: \($0.path): \($0.text)") }.store(in: bag)
let exitStatus = notices.filter(\.isFailure).map { _ in Int32(1) }.publishedValue(initial: 0)

// The counts end when everybody has had the last line.
counts.subscribe { _ in
} onEnd: {
  screen.finish(counts.current()?.summary ?? "")
}.store(in: bag)

let reading = Task { await tail.run() }
merge(signals(SIGINT), signals(SIGTERM)).subscribe { _ in reading.cancel() }.store(in: bag)
await reading.value
// While everybody is still subscribed.
var hasFailed = false
if let graph, let file = options.graph {
  do {
    try graph.write(to: file)
  } catch {
    screen.report("minirex-tail: \(file): \(error)")
    hasFailed = true
  }
}
tail.end()
exit(hasFailed ? 1 : exitStatus.current() ?? 0)
