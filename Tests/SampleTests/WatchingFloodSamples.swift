import Dispatch
import MiniRex
import MiniRexDispatchAdapters
import Synchronization
import TestSupport
import Testing

/// Types with the methods of swift-metrics that the sample uses.
private struct Counter {
  var label: String
  var dimensions: [(String, String)]

  func increment(by amount: Int = 1) {
    metrics.withLock { $0[key(label, dimensions), default: 0] += amount }
  }
}

private struct Gauge {
  var label: String
  var dimensions: [(String, String)]

  func record(_ value: Int) { metrics.withLock { $0[key(label, dimensions)] = value } }
}

struct MeteringInstrument: Instrument {
  func record(_ event: InstrumentEvent) {
    let of = [("source", event.source), ("operator", event.operation ?? "")]
    switch event.kind {
    case .delivered: Counter(label: "minirex.delivered", dimensions: of).increment()
    case .dropped(let count): Counter(label: "minirex.dropped", dimensions: of).increment(by: count)
    case .backlog(let depth): Gauge(label: "minirex.backlog", dimensions: of).record(depth)
    case .failed: Counter(label: "minirex.failed", dimensions: of).increment()
    case .subscribed, .unsubscribed, .sourceFinished: break
    }
  }
}

/// The instruments of Watching.md for swift-log and swift-metrics, in a flood.
@Suite(.heavy) struct WatchingFloodSamples {
  /// A type with the methods of swift-log's `Logger` that the sample uses.
  struct Logger: Sendable {
    let write: @Sendable (String) -> Void

    func warning(_ message: @autoclosure () -> String) { write("warning \(message())") }
    func error(_ message: @autoclosure () -> String) { write("error \(message())") }
    func trace(_ message: @autoclosure () -> String) {}
  }

  final class LoggingInstrument: Instrument {
    private struct Buffer: Hashable {
      let source: String
      let operation: String?
    }

    private struct Report {
      var dropped = 0
      var dueTime = ContinuousClock.now
    }

    private let logger: Logger
    private let reports = Mutex<[Buffer: Report]>([:])

    init(_ logger: Logger) { self.logger = logger }

    func record(_ event: InstrumentEvent) {
      switch event.kind {
      case .dropped(let count): warn(event, dropped: count)
      case .backlog: warn(event, dropped: 0)
      case .failed: logger.error("\(event)")
      default: logger.trace("\(event)")
      }
    }

    private func warn(_ event: InstrumentEvent, dropped count: Int) {
      let buffer = Buffer(source: event.source, operation: event.operation)
      let total: Int? = reports.withLock { reports in
        let now = ContinuousClock.now
        reports[buffer, default: Report()].dropped += count
        guard let report = reports[buffer], report.dueTime <= now else { return nil }
        reports[buffer]?.dueTime = now + .seconds(1)
        return report.dropped
      }
      if let total { logger.warning("\(event), dropped in total: \(total)") }
    }
  }

  @Test func `a flood of drops is at most one line per second for each buffer`() async {
    let paper = Paper()
    let orders = withInstrument(LoggingInstrument(Logger(write: paper.print))) {
      BroadcastSource<Int>(name: "orders")
    }
    let newest = orders.publisher.map { $0 + 1 }.values(.bufferingNewest(10))
    let queue = DispatchQueue(label: "archive")
    queue.suspend()
    let oldest = orders.publisher
      .receive(on: queue, buffering: .bufferingOldest(10)).subscribe { _ in }
    let count = scaled(100_000)

    let began = ContinuousClock.now
    onThreads(2) { _ in for number in 0..<count { orders.broadcast(number) } }
    // One thread delivers for the other, which returns before.
    await orders.delivered()
    let seconds = Int((began.duration(to: .now) / .seconds(1)).rounded(.up))

    let flooding = paper.lines
    // The drops after the last line are in the next line.
    try? await Task.sleep(for: .milliseconds(1_100))
    orders.broadcast(0)

    let lines = paper.lines
    for (operation, dropped) in [
      ("values", newest.droppedCount), ("receive", oldest.droppedCount),
    ] {
      let prefix = "warning orders, \(operation): "
      #expect(1...seconds + 1 ~= flooding.count { $0.hasPrefix(prefix) })
      let totals = lines.filter { $0.hasPrefix(prefix) }
        .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
      #expect(totals == totals.sorted() && totals.last == dropped)
      #expect(dropped == 2 * count - 9)
    }
    queue.resume()
    withExtendedLifetime(oldest) {}
  }

  @Test func `a queue that fills and drains is at most one line per second`() async {
    let paper = Paper()
    let orders = withInstrument(LoggingInstrument(Logger(write: paper.print))) {
      BroadcastSource<Int>(name: "orders")
    }
    let queue = DispatchQueue(label: "archive")
    let archive = orders.publisher.receive(on: queue).subscribe { _ in }
    let began = ContinuousClock.now
    for _ in 0..<scaled(200) {
      queue.suspend()
      for number in 0..<1_100 { orders.broadcast(number) }
      queue.resume()
      await archive.drained()
    }
    let seconds = Int((began.duration(to: .now) / .seconds(1)).rounded(.up))

    #expect(1...seconds + 1 ~= paper.lines.count)
    let first = "warning orders, receive: 1000 pending, SampleTests/"
    #expect(paper.lines.first?.hasPrefix(first) == true)
  }

  @Test func `metrics of a flood have the exact drops by source and operator`() async {
    metrics.withLock { $0 = [:] }
    let orders = withInstrument(MeteringInstrument()) { BroadcastSource<Int>(name: "orders") }
    let newest = orders.publisher.map { $0 + 1 }.trace("more").values(.bufferingNewest(10))
    let queue = DispatchQueue(label: "archive")
    queue.suspend()
    let oldest = orders.publisher
      .receive(on: queue, buffering: .bufferingOldest(2_000)).subscribe { _ in }
    // More than the buffer has room for, even under a sanitizer.
    let count = max(2_000, scaled(20_000))

    onThreads(2) { _ in for number in 0..<count { orders.broadcast(number) } }
    // One thread delivers for the other, which returns before.
    await orders.delivered()

    let values = metrics.withLock { $0 }
    #expect(values["minirex.dropped source=orders operator=values"] == newest.droppedCount)
    #expect(values["minirex.dropped source=orders operator=receive"] == oldest.droppedCount)
    #expect(values["minirex.backlog source=orders operator=receive"] == 2_000)
    #expect(Set(values.keys).allSatisfy { $0.contains("source=orders") })
    queue.resume()
    withExtendedLifetime(oldest) {}
  }
}

private let metrics = Mutex<[String: Int]>([:])

private func key(_ label: String, _ dimensions: [(String, String)]) -> String {
  "\(label) " + dimensions.map { "\($0)=\($1)" }.joined(separator: " ")
}
