#if NATS
internal import Dispatch
internal import Foundation
internal import MiniRex
internal import MiniRexInspector
internal import MiniRexNATS
internal import MiniRexPageServer

/// Answers the requests for the inspector of this process.
final class InspectorEndpoint: Sendable {
  typealias Answer = ProgressiveTask<InspectorFrame, InspectorAnswer, NATSError>

  /// The maximum number of requests in progress.
  ///
  /// An open page is one.
  static let limit = 16

  let inspector: InspectorWithoutPort
  let slots = Slots()
  private let queue = DispatchQueue(label: "MiniRexFleet.inspector")

  init(_ inspector: InspectorWithoutPort) { self.inspector = inspector }

  func answer(_ request: InspectorRequest) -> Answer {
    Answer { [self] report, finish in
      guard let slot = slots.take(upTo: Self.limit) else {
        finish(.failure(.refused(code: 503, message: "Too many pages are open.")))
        return .ended
      }
      let number = Lock(0 as UInt32)
      let send: @Sendable (Data) -> Void = { data in
        let start = number.withLock { $0 }
        let frames = InspectorFrame.frames(data, from: start)
        number.withLock { $0 &+= UInt32(truncatingIfNeeded: frames.count) }
        for frame in frames { report(frame) }
      }
      let events = Lock<Subscription?>(nil)
      let isCanceled = Lock(false)
      queue.async { [inspector] in
        if isCanceled.withLock({ $0 }) { return }
        switch inspector.answer(get: request.path) {
        case .events(let broadcaster, _):
          let subscription = withInstrument(Unwatched()) {
            broadcaster.subscribe(send, onEnd: { finish(.success(InspectorAnswer())) })
          }
          events.withLock { $0 = subscription }
        case .content(let type, let data):
          send(data)
          finish(
            .success(InspectorAnswer(text: type, frameCount: Int(number.withLock { $0 }))))
        case .status(let status, let reason):
          let isMissing = status == .notFound
          finish(
            .success(InspectorAnswer(status: isMissing ? .notFound : .unavailable, text: reason)))
        // The process that serves the pages has its own.
        case .page: finish(.success(InspectorAnswer(status: .notFound)))
        }
      }
      return Subscription {
        isCanceled.withLock { $0 = true }
        // After the work, which may be creating the subscription.
        self.queue.async { events.withLock { $0.take() }?.invalidate() }
        withExtendedLifetime(slot) {}
      }
    }
  }
}

/// The requests in progress.
final class Slots: Sendable {
  private let count = Lock(0)

  /// The number of slots in use.
  var usedCount: Int { count.withLock { $0 } }

  /// Returns a slot that is free again when it is released, or `nil` at the limit.
  func take(upTo limit: Int) -> Slot? {
    let isFree = count.withLock { count in
      if count >= limit { return false }
      count += 1
      return true
    }
    return isFree ? Slot(self) : nil
  }

  fileprivate func free() { count.withLock { $0 -= 1 } }
}

final class Slot: Sendable {
  private let slots: Slots

  fileprivate init(_ slots: Slots) { self.slots = slots }

  deinit { slots.free() }
}
#endif
