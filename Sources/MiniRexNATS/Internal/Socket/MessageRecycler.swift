#if NATS
internal import MiniRex
internal import CNATS

/// Returns messages to libnats in batches, after their callbacks or after they were sent.
///
/// libnats frees messages on a separate thread, which it wakes for the first message that it
/// receives. Returning them one by one would cost two thread switches per message.
enum MessageRecycler {
  private struct State: Sendable {
    var messages: [CPointer] = []
    var bytes = 0

    init() { messages.reserveCapacity(limit) }
  }

  /// The maximum number of retained messages in the process.
  private static let limit = 2_048
  private static let limitInBytes = 256 << 10

  private static let state = Lock(State())

  static func add(_ message: OpaquePointer) {
    let size = Int(natsMsg_GetDataLength(message))
    let spent = state.withLock { state -> [CPointer]? in
      state.messages.append(CPointer(message))
      state.bytes += size
      if state.messages.count < limit, state.bytes < limitInBytes { return nil }
      defer { state = State() }
      return state.messages
    }
    guard let spent else { return }
    for message in spent { natsMsg_Destroy(message.pointer) }
  }
}
#endif
