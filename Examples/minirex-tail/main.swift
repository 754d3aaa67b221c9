import Foundation
import MiniRex
import MiniRexFoundationAdapters

guard let options = Options(CommandLine.arguments.dropFirst()) else {
  complain(Options.usage + "\n")
  exit(2)
}
// The graph observes sources that are created from now on. Without a graph, no source is observed.
let graph = options.graph.map { _ in LiveGraph() }
if let graph { setDefaultInstrument(graph) }

let tail = Tail(matching: options.match)
let bag = SubscriptionBag()
tail.matches.subscribe { print(lineStart + String(decoding: $0, as: UTF8.self)) }.store(in: bag)
tail.pieces.subscribe { _ in flush() }.store(in: bag)
tail.notices.subscribe { complain("\(lineStart)minirex-tail: \($0.text)\n") }.store(in: bag)
tail.progress.removeDuplicates().subscribe { showProgress($0) }.store(in: bag)
let hasFailed = tail.notices.filter(\.isFailure).map { _ in true }.publishedValue(initial: false)

func draw(_ graph: LiveGraph, to file: String) {
  do {
    try graph.dot().write(toFile: file, atomically: false, encoding: .utf8)
  } catch {
    tail.report("\(file): \(error.localizedDescription)", isFailure: true)
  }
}

let reading = Task { await tail.read(options.files, once: options.isOnce) }
let signals = DispatchSource.signals(SIGINT, SIGTERM)
signals.subscribe { _ in reading.cancel() }.store(in: bag)
// A signal also ends a program whose output is not read.
signals.delay(for: .seconds(1)).subscribe {
  if isFull(STDOUT_FILENO) || isFull(STDERR_FILENO) { _exit(128 + $0) }
}.store(in: bag)
await reading.value

// Draw while all subscriptions exist.
if let graph, let file = options.graph { draw(graph, to: file) }
await tail.end()
print(lineStart + (tail.summary.current() ?? ""))
exit(hasFailed.current() == true ? 1 : 0)
