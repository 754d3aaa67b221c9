#if NATS
internal import Dispatch
internal import Foundation
internal import MiniRex
internal import MiniRexInspector
internal import MiniRexNATS
internal import MiniRexPageServer

/// Answers the requests for the inspector of this process.
final class InspectorEndpoint: Sendable {
  typealias Answer = PublishedTask<InspectorAnswer, NATSError>

  /// The maximum number of requests in progress.
  ///
  /// An open page is one.
  static let limit = 16

  let inspector: InspectorWithoutPort
  let slots = Slots()
  private let fleet: String
  private let nats: NATSConnection
  private let queue = DispatchQueue(label: "MiniRexFleet.inspector")

  init(_ inspector: InspectorWithoutPort, of fleet: String, over nats: NATSConnection) {
    (self.inspector, self.fleet, self.nats) = (inspector, fleet, nats)
  }

  func answer(_ request: InspectorRequest) -> Answer {
    Answer { [self] finish in
      guard FleetSubject.isPart(request.frames) else {
        finish(.failure(.refused(code: 400, message: "The frames need a part of a subject.")))
        return .ended
      }
      guard let slot = slots.take(upTo: Self.limit) else {
        finish(.failure(.refused(code: 503, message: "Too many pages are open.")))
        return .ended
      }
      let events = Lock<Subscription?>(nil)
      let isCanceled = Lock(false)
      queue.async { [self] in
        if isCanceled.withLock({ $0 }) { return }
        let sender = FrameSender(over: nats, on: FleetSubject.frames(fleet, request.frames), finish)
        let subscription = send(inspector.answer(get: request.path), by: sender)
        events.withLock { $0 = subscription }
      }
      return Subscription { [self] in
        isCanceled.withLock { $0 = true }
        // On the queue, after work that may be creating the subscription.
        queue.async { events.withLock { $0.take() }?.invalidate() }
        withExtendedLifetime(slot) {}
      }
    }
  }

  /// Returns the subscription of an answer that continues.
  private func send(_ reply: Reply, by sender: FrameSender) -> Subscription? {
    switch reply {
    case .events(let broadcaster, _):
      return withInstrument(Unwatched()) {
        broadcaster.subscribe {
          sender.send($0)
        } onEnd: {
          sender.finish(InspectorAnswer())
        }
      }
    case .content(let type, let data):
      sender.send(data)
      sender.finish(InspectorAnswer(text: type))
    case .status(.notFound, let reason):
      sender.finish(InspectorAnswer(status: .notFound, text: reason))
    case .status(_, let reason):
      sender.finish(InspectorAnswer(status: .unavailable, text: reason))
    // The process that serves the pages has its own.
    case .page: sender.finish(InspectorAnswer(status: .notFound))
    }
    return nil
  }
}
#endif
