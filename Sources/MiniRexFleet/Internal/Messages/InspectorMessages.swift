#if NATS
internal import Foundation
internal import MiniRexNATS

/// A request for a part of a member's inspector.
///
/// It has no method: nothing but reading can be requested.
struct InspectorRequest: Codable, Sendable {
  let path: String
  /// The last part of the subject of the frames.
  let frames: String
}

/// The last message of an answer.
///
/// It may arrive before the last frames, which have a separate subscription. The progress of a request would wait
/// while another callback of the requesting process blocks.
struct InspectorAnswer: Codable, Sendable {
  enum Status: String, Codable, Sendable { case ok, notFound, unavailable }

  var status = Status.ok
  /// The media type, or the reason of a refusal.
  var text = ""
  var frameCount = 0
}

/// A part of an answer, as large as a message may be.
struct InspectorFrame: NATSPayload, Equatable {
  /// The maximum number of bytes of a part.
  ///
  /// The default limit of a server is 1 MiB.
  static let limit = 128 << 10

  struct Malformed: Error {}

  /// The number of the frame, from 0.
  ///
  /// A gap means that the server has dropped frames.
  let number: UInt32
  let bytes: Data

  init(number: UInt32, bytes: Data) { (self.number, self.bytes) = (number, bytes) }

  init(natsPayload data: Data) throws {
    if !(4...Self.limit + 4).contains(data.count) { throw Malformed() }
    number = data.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    bytes = Data(data.dropFirst(4))
  }

  func natsPayload() -> Data {
    Data((0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }) + bytes
  }

  /// Returns the frames of data, numbered from `start`.
  static func frames(_ data: Data, from start: UInt32) -> [InspectorFrame] {
    stride(from: 0, to: data.count, by: limit).enumerated().map { index, offset in
      InspectorFrame(
        number: start &+ UInt32(truncatingIfNeeded: index),
        bytes: Data(data.dropFirst(offset).prefix(limit)))
    }
  }
}
#endif
