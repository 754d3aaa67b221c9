import MiniRex
import MiniRexNATS
import MiniRexTesting

extension NATSConnection {
  /// Returns when the status is this one; `false` if it never will be.
  @discardableResult
  func isEventually(_ wanted: NATSStatus) async -> Bool {
    for await status in status.values(.unbounded) where status == wanted { return true }
    return false
  }
}

extension Publisher where Kind: StreamKind {
  /// The first update for which something is found.
  func firstResult<Result: Sendable>(
    _ find: @escaping @Sendable (Update) -> Result?
  ) async -> Result? {
    for await update in values(.unbounded) {
      if let result = find(update) { return result }
    }
    return nil
  }
}

extension NATSConnection {
  /// Returns when the server has taken note of what was subscribed to before.
  ///
  /// It answers what one connection says in order, so a message to oneself comes back after that.
  func areSubscribed() async throws {
    let inbox = "_TEST.\(UInt64.random(in: 0 ... .max))"
    let recorder = Recorder(broadcaster(of: String.self, on: inbox))
    try publish("", on: inbox)
    _ = await recorder.next()
  }
}

extension NATSConnection {
  /// What the server says of those who read a stream, or work on it.
  func consumers(of stream: NATSStream) async -> String {
    let list = await request(
      String.self, "", on: "$JS.API.CONSUMER.LIST.\(stream.name)", timeout: .seconds(60)
    ).result
    if case .success(let text)? = list { return text }
    return ""
  }
}

extension Publisher where Kind == TaskKind {
  /// True if it succeeds.
  func hasSucceeded<Success: Sendable>() async -> Bool where Update == Result<Success, NATSError> {
    let result = await result
    if case .success? = result { return true }
    print("It has failed: \(result as Any)")
    return false
  }
}

/// Waits for something that is asked again and again.
func until(_ isTrue: @autoclosure () async -> Bool) async {
  while !(await isTrue()), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(10)) }
}
