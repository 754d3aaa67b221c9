#if NATS
internal import Foundation
internal import MiniRex
internal import MiniRexInspector
internal import MiniRexNATS
internal import MiniRexPageServer

/// Requests the inspectors of members for browsers.
///
/// A member is not trusted. Its answers are data with a fixed type: this process supplies the page and its scripts.
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

  /// The frames of an answer in order, and its last message, which may come before the last frames.
  private func parts(_ path: String, of id: String, timeout: Duration) -> Broadcaster<AnswerPart> {
    let (nats, subject) = (nats, FleetSubject.inspect(fleet, id))
    let (secret, fleet) = (makeSecret(), fleet)
    return Broadcaster { receive in
      let frames = nats.broadcaster(
        of: InspectorFrame.self, on: FleetSubject.frames(fleet, secret)
      ).subscribe { receive(.frame($0.payload)) }
      let answer = nats.request(
        InspectorAnswer.self, InspectorRequest(path: path, frames: secret), on: subject,
        timeout: timeout)
      let answering = answer.subscribe { receive(.answer($0)) }
      let late = answer.broadcaster.delay(for: .seconds(3), clock: ContinuousClock())
        .subscribe { _ in receive(.late) }
      return Subscription {
        for subscription in [late, answering, frames] { subscription.invalidate() }
      }
    }
  }

  /// The events of an inspector, until its process ends, or a frame is lost.
  ///
  /// The browser then connects again, and starts with an event that has everything.
  private func events(of id: String) -> Broadcaster<Data> {
    // A browser that is open longer connects again.
    parts("/events", of: id, timeout: .seconds(3_600))
      .scan(FrameOrder()) { $0.next($1) }
      .prefix { $0.bytes != nil }
      .compactMap(\.bytes)
  }

  private func content(_ path: String, of id: String) async -> Reply {
    let parts = withInstrument(Unwatched()) {
      self.parts(path, of: id, timeout: .seconds(30))
        .values(.bufferingOldest(Self.frameLimit + 2))
    }
    var (order, body) = (FrameOrder(), Data())
    var answer: InspectorAnswer?
    for await part in parts {
      switch part {
      case .frame:
        order = order.next(part)
        guard let bytes = order.bytes, order.count <= Self.frameLimit else {
          return Self.incomplete
        }
        body += bytes
      case .answer(.success(let success)): answer = success
      case .answer(.failure(let error)):
        return .status(.unavailable, because: shortened("\(error)", to: 500))
      case .late: return Self.incomplete
      }
      if let answer, answer.frameCount == order.count { return Self.reply(answer, body) }
    }
    return Self.incomplete
  }

  private static let incomplete = Reply.status(
    .unavailable, because: "The answer of the process is incomplete.")

  private static func reply(_ answer: InspectorAnswer, _ body: Data) -> Reply {
    switch answer.status {
    case .ok: types.contains(answer.text) ? .content(answer.text, body) : incomplete
    case .notFound: .status(.notFound)
    case .unavailable: .status(.unavailable, because: shortened(answer.text, to: 500))
    }
  }
}
#endif
