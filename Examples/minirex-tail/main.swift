import Glibc
import MiniRex
import Synchronization

let arguments = Options(CommandLine.arguments.dropFirst())
let screen = Screen(isFollowing: arguments?.isOnce == false)
guard let options = arguments else {
  screen.report(Options.usage)
  exit(2)
}

let tail = Tail(options)
let lines = tail.lines.publisher
let looks = tail.looks.publisher
let notices = tail.notices.publisher
let bag = SubscriptionBag()

// What matches is broadcast again, so that one search serves two subscribers.
let matching = BroadcastSource<Line>()
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

let status = combineLatest(
  counts.map(\.lines), counts.map(\.bytes), counts.map(\.matches), counts.map(\.severities)
) { lines, bytes, matches, severities in
  "\(lines) lines, \(bytes) bytes, \(matches) matches" + Severity.describe(severities)
}
looks.subscribe { _ in screen.flush() }.store(in: bag)
looks.compactMap { _ in status.current() }.removeDuplicates()
  .subscribe { screen.show($0) }.store(in: bag)

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
exit(exitStatus.current() ?? 0)
