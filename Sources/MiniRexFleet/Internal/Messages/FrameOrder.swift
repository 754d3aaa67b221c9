#if NATS
internal import Foundation
internal import MiniRexNATS

/// A message of an answer.
enum AnswerPart: Sendable {
  case frame(InspectorFrame)
  case answer(Result<InspectorAnswer, NATSError>)
  /// The frames must have arrived by now.
  case late
}

/// Checks that no frame is missing.
struct FrameOrder: Sendable {
  private(set) var count = 0
  /// The bytes of the frame, or `nil` after a gap or the end.
  private(set) var bytes: Data? = Data()

  func next(_ part: AnswerPart) -> FrameOrder {
    var next = self
    next.bytes = nil
    if bytes != nil, case .frame(let frame) = part,
      frame.number == UInt32(truncatingIfNeeded: count)
    {
      next.bytes = frame.bytes
    }
    next.count += 1
    return next
  }
}
#endif
