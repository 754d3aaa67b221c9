#if NATS
internal import Foundation
internal import MiniRex
internal import MiniRexNATS

/// Sends the frames of one answer.
///
/// One thread at a time sends, because updates of a subscription do not overlap.
final class FrameSender: Sendable {
  private let nats: NATSConnection
  private let subject: String
  private let finishTask: @Sendable (Result<InspectorAnswer, NATSError>) -> Void
  private let count = Lock(0)

  init(
    over nats: NATSConnection, on subject: String,
    _ finish: @escaping @Sendable (Result<InspectorAnswer, NATSError>) -> Void
  ) {
    (self.nats, self.subject, finishTask) = (nats, subject, finish)
  }

  func send(_ data: Data) {
    let start = count.withLock { $0 }
    let frames = InspectorFrame.frames(data, from: UInt32(truncatingIfNeeded: start))
    count.withLock { $0 += frames.count }
    do throws(NATSError) {
      for frame in frames { try nats.publish(frame, on: subject) }
    } catch {
      // A browser that misses a frame must start again.
      finishTask(.failure(error))
    }
  }

  func finish(_ answer: InspectorAnswer) {
    var answer = answer
    answer.frameCount = count.withLock { $0 }
    finishTask(.success(answer))
  }
}
#endif
