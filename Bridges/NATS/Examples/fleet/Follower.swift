import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexNATS

/// What a process tells of itself, in the bucket.
struct Report: Codable, Sendable, Equatable {
  var process = getpid()
  var lines = 0
}

/// Publishes the lines of a log as they come, and says each second how many there were.
func follow(_ log: String, as name: String, over url: String) async -> Never {
  let nats = NATSConnection(url)
  let bag = SubscriptionBag()
  let (reader, lines) = (LogReader(log), BroadcastSource<String>(name: name))
  URL(filePath: log).changes().subscribe { _ in
    for line in reader.next() { lines.broadcast(line) }
  }.store(in: bag)
  let report = lines.publisher.scan(Report()) { report, _ in
    Report(process: report.process, lines: report.lines + 1)
  }.publishedValue(initial: Report())
  // Its count goes on as long as somebody listens.
  report.subscribe { _ in }.store(in: bag)
  // What comes while there is no connection waits for it.
  lines.publisher.publish(to: nats, on: "fleet.\(name)").store(in: bag)
  DispatchQueue(label: "reports").broadcaster(every: .seconds(1))
    .compactMap { _ in report.current() }
    .flatMapLatest { nats.bucket("fleet").put($0, for: name) }.subscribe { _ in }.store(in: bag)
  await stayWithParent()
  await nats.close()
  exit(0)
}

/// Returns when whoever has started this process has gone.
func stayWithParent() async {
  let parent = getppid()
  while getppid() == parent { try? await Task.sleep(for: .milliseconds(200)) }
}
