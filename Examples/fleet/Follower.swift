#if NATS
import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexNATS

/// The state of a process in the bucket.
struct Report: Codable, Sendable, Equatable {
  var process = getpid()
  var lines = 0
}

/// Publishes the lines of a log as they are written, and their count each second.
func follow(
  _ log: String, as name: String, over url: String, until fleet: pid_t
) async -> Never {
  let nats = connect(to: url)
  let bag = SubscriptionBag()
  let (reader, lines) = (LogReader(log), BroadcastSource<String>(name: name))
  URL(filePath: log).changes().subscribe { _ in
    for line in reader.next() { lines.broadcast(line) }
  }.store(in: bag)
  let report = lines.publisher.scan(Report()) { report, _ in
    Report(process: report.process, lines: report.lines + 1)
  }.publishedValue(initial: Report())
  // The count is updated while the task has a subscriber.
  report.subscribe { _ in }.store(in: bag)
  // Lines published while disconnected are queued.
  lines.publisher.publish(to: nats, on: "fleet.\(name)").store(in: bag)
  DispatchQueue(label: "reports").broadcaster(every: .seconds(1))
    .compactMap { _ in report.current() }
    .flatMapLatest { nats.bucket("fleet").put($0, for: name) }.subscribe { _ in }.store(in: bag)
  await end(of: fleet)
  await nats.close()
  exit(0)
}

/// Returns a connection that notices within three seconds that the server does not answer.
func connect(to url: String) -> NATSConnection {
  var options = NATSOptions()
  options.pingInterval = .seconds(1)
  return NATSConnection(url, options: options)
}
#endif
