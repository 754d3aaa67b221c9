internal import CNATS

/// Messages whose callbacks have returned, on their way back to libnats.
///
/// libnats frees them on a thread of its own, which it wakes for the first that it gets. One at a time,
/// as callbacks return, that would be two changes of thread for each message; so they go together.
enum SpentMessages {
  private struct State: Sendable {
    var messages: [CPointer] = []
    var bytes = 0

    init() { messages.reserveCapacity(limit) }
  }

  /// How much of them may be kept in the whole process.
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
