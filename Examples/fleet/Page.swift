#if NATS
import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexNATS
import MiniRexPageServer

/// The content of the page.
///
/// Each event contains all of it.
private struct Shown: Encodable, Sendable, Equatable {
  struct Process: Encodable, Sendable, Equatable {
    let name: String
    let report: Report?
    let heardAt: Date
  }

  struct Line: Encodable, Sendable, Equatable {
    let sequence: UInt64
    let name: String
    let text: String
    let date: Date
  }

  let isConnected: Bool
  let processes: [Process]
  let lines: [Line]
  let missing: Int
  let now: Date
}

private struct Lines: Sendable, Equatable {
  var lines: [Shown.Line] = []
  var missing = 0
}

/// Serves a page with the content of the bucket and the stream.
func showPage(port: UInt16, over url: String, until fleet: pid_t) async -> Never {
  let nats = connect(to: url)
  Task { await makeStores(over: nats) }
  guard let server = PageServer(port: port) else { fail("Port \(port) is in use.") }
  let events = shown(over: nats).map {
    Data("data: ".utf8) + ((try? encoder().encode($0)) ?? Data()) + Data("\n\n".utf8)
  }.share()
  // The content is ready before the first browser connects.
  let watching = events.subscribe { _ in }
  let serving = Task {
    await server.serve { request in
      switch (request.method, request.path) {
      case ("GET", "/"): .page(Data(PackageResources.page_html))
      case ("GET", "/events"): .events(events.broadcaster, .missesEvents)
      case ("GET", _): .status(.notFound)
      default: .status(.notAllowed)
      }
    }
  }
  await end(of: fleet)
  serving.cancel()
  watching.invalidate()
  exit(0)
}

/// Creates the bucket and the stream after each connect, because a restarted server may have an
/// empty disk.
private func makeStores(over nats: NATSConnection) async {
  var options = NATSStreamOptions()
  options.maxMessages = 1_000
  for await status in nats.status.values(.bufferingNewest(1)) where status == .connected {
    _ = await nats.stream("fleet").create(options).result
    _ = await nats.bucket("fleet").create().result
  }
}

private func shown(over nats: NATSConnection) -> PublishedValue<Shown> {
  let lines = nats.stream("fleet").broadcaster(of: String.self, from: .beginning)
    .scan(Lines()) { shown, message in
      let line = Shown.Line(
        sequence: message.sequence, name: String(message.subject.dropFirst("fleet.".count)),
        text: message.payload, date: message.date)
      return Lines(
        lines: [line] + shown.lines.prefix(24),
        missing: shown.missing + (message.missing?.count ?? 0))
    }
    .publishedValue(initial: Lines())
  let bucket = nats.bucket("fleet")
  let processes = names.map { name in
    bucket.publishedEntry(of: Report.self, for: name).map {
      Shown.Process(name: name, report: $0.value, heardAt: Date())
    }
  }
  let clock = DispatchQueue(label: "clock").broadcaster(every: .seconds(1)).map { _ in Date() }
    .publishedValue(initial: Date())
  return combineLatest(
    processes[0], processes[1], processes[2], lines, nats.status.map { $0 == .connected }, clock
  ) {
    Shown(
      isConnected: $4, processes: [$0, $1, $2], lines: $3.lines, missing: $3.missing, now: $5)
  }.throttle(for: .milliseconds(100), latest: true, clock: ContinuousClock())
}

private func encoder() -> JSONEncoder {
  let encoder = JSONEncoder()
  encoder.dateEncodingStrategy = .millisecondsSince1970
  return encoder
}
#endif
