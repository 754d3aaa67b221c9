#if NATS
internal import Foundation
internal import MiniRex
internal import MiniRexInspector
internal import MiniRexNATS
internal import MiniRexPageServer

/// Requests the inspectors of members for browsers.
///
/// A member is not trusted. Its answers are data with a fixed type: the page and its scripts are those of this process.
struct InspectorForwarder: Sendable {
  /// The media types that the browser receives.
  private static let types: Set<String> = [
    "application/json", "text/plain; charset=utf-8", "text/plain; version=0.0.4; charset=utf-8",
  ]
  /// The maximum number of frames of an answer, 32 MiB.
  private static let frameLimit = 256

  private let nats: NATSConnection
  private let fleet: String

  init(of fleet: String, over nats: NATSConnection) { (self.fleet, self.nats) = (fleet, nats) }

  /// Answers a request for a path below `/process/ID`.
  func answer(_ path: String, of id: String) async -> Reply {
    switch path {
    case "/": .page(InspectorWithoutPort.page)
    case "/events": .events(events(of: id), .beginsAnew)
    default: await content(path, of: id)
    }
  }

  private func request(
    _ path: String, of id: String, timeout: Duration
  ) -> Broadcaster<TaskUpdate<InspectorFrame, InspectorAnswer, NATSError>> {
    nats.request(
      InspectorAnswer.self, progress: InspectorFrame.self, InspectorRequest(path: path),
      on: FleetSubject.inspect(fleet, id), timeout: timeout
    ).broadcaster
  }

  /// The events of an inspector, until its process ends, or a frame is lost.
  ///
  /// The browser then connects again, and starts with an event that has everything.
  private func events(of id: String) -> Broadcaster<Data> {
    // A browser that is open longer connects again.
    request("/events", of: id, timeout: .seconds(3_600))
      .scan(FrameOrder()) { $0.next($1) }
      .prefix { $0.bytes != nil }
      .compactMap(\.bytes)
  }

  private func content(_ path: String, of id: String) async -> Reply {
    let updates = withInstrument(Unwatched()) {
      request(path, of: id, timeout: .seconds(30)).values(.bufferingOldest(Self.frameLimit))
    }
    var order = FrameOrder()
    var body = Data()
    for await update in updates {
      guard case .finished(let result) = update else {
        order = order.next(update)
        guard let bytes = order.bytes, order.count <= Self.frameLimit else { break }
        body += bytes
        continue
      }
      switch result {
      case .success(let answer) where answer.status == .notFound: return .status(.notFound)
      case .success(let answer) where answer.status == .unavailable:
        return .status(.unavailable, because: shortened(answer.text, to: 500))
      case .success(let answer):
        guard answer.frameCount == order.count, Self.types.contains(answer.text) else {
          return .status(.unavailable, because: "The answer of the process is incomplete.")
        }
        return .content(answer.text, body)
      case .failure(let error):
        return .status(.unavailable, because: shortened("\(error)", to: 500))
      }
    }
    return .status(.unavailable, because: "The answer of the process is incomplete.")
  }
}

/// Checks that no frame is missing.
struct FrameOrder: Sendable {
  private(set) var count = 0
  /// The bytes of the frame, or `nil` after a gap or the end.
  private(set) var bytes: Data? = Data()

  func next(_ update: TaskUpdate<InspectorFrame, InspectorAnswer, NATSError>) -> FrameOrder {
    var next = self
    next.bytes = nil
    if bytes != nil, case .progress(let frame) = update, frame.number == UInt32(clamping: count) {
      next.bytes = frame.bytes
    }
    next.count += 1
    return next
  }
}
#endif
