#if NATS
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

extension NATSConnection {
  /// Returns when the connection has the status, or `false` if it never will.
  @discardableResult
  func isEventually(
    _ wanted: NATSStatus, sourceLocation: SourceLocation = #_sourceLocation
  ) async -> Bool {
    await status.firstResult(sourceLocation: sourceLocation) { $0 == wanted ? true : nil } == true
  }
}

/// The number of polls for servers that start, elect a leader, or fail: a minute.
let serverPatience = 6 * patience

extension Publisher where Kind: StreamKind {
  /// Returns the first result for an update that is not `nil`.
  ///
  /// Records an issue at the call if there is none.
  func firstResult<Result: Sendable>(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ find: @escaping @Sendable (Update) -> Result?
  ) async -> Result? {
    let found = Shared<Result?>(nil)
    let recorder = Recorder(self) { update in
      if let result = find(update) { found.change { $0 = $0 ?? result } }
    }
    await until(recorder.updates.last, patience: serverPatience, sourceLocation: sourceLocation) {
      _ in found.value != nil || recorder.hasEnded
    }
    return found.value
  }
}

extension NATSConnection {
  /// Returns when the server has processed all earlier subscriptions.
  ///
  /// The server processes the commands of one connection in order, so a round trip of a message
  /// follows them.
  func areSubscribed() async throws {
    let inbox = "_TEST.\(UInt64.random(in: 0 ... .max))"
    let recorder = Recorder(broadcaster(of: String.self, on: inbox))
    try publish("", on: inbox)
    _ = await recorder.next()
  }
}

extension NATSConnection {
  /// Returns when a message on the subject `numbers` has made a round trip.
  ///
  /// Earlier messages may be lost.
  func makesRoundTrip(
    to recorder: Recorder<NATSMessage<Int>>, sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    let before = recorder.updates.count
    await until(patience: serverPatience, sourceLocation: sourceLocation) {
      try? publish(-1, on: "numbers")
      return recorder.updates.count > before
    }
  }
}

extension NATSConnection {
  /// Returns the server's JSON about the consumers of a stream.
  func consumers(of stream: NATSStream) async -> String {
    let list = await request(
      String.self, "", on: "$JS.API.CONSUMER.LIST.\(stream.name)", timeout: .seconds(60)
    ).result
    if case .success(let text)? = list { return text }
    return ""
  }

  /// Returns when a stream has a consumer, because a watcher that begins late misses a value that expires.
  func isWatching(_ stream: String) async {
    await until(await consumers(of: self.stream(stream)).contains(#""stream_name""#))
  }
}

extension String {
  /// Returns the numbers or strings that follow a key in JSON text, without their quotes.
  func values(of key: String) -> [Substring] {
    split(separator: "\"\(key)\":", omittingEmptySubsequences: false).dropFirst().map { text in
      text.drop { $0 == "\"" }.prefix { !["\"", ",", "}"].contains($0) }
    }
  }
}

extension Publisher where Kind == TaskKind {
  /// Returns `true` if the task succeeds.
  func hasSucceeded<Success: Sendable>() async -> Bool where Update == Result<Success, NATSError> {
    let result = await result
    if case .success? = result { return true }
    Swift.print("It has failed: \(result as Any)")
    return false
  }
}

/// Polls a condition of servers.
func until(
  patience: Int = serverPatience, sourceLocation: SourceLocation = #_sourceLocation,
  _ isTrue: () -> Bool
) async {
  await TestSupport.until(patience: patience, sourceLocation: sourceLocation, isTrue)
}

/// Polls an asynchronous condition.
func until(
  _ isTrue: @autoclosure () async -> Bool, sourceLocation: SourceLocation = #_sourceLocation
) async {
  await TestSupport.until(patience: serverPatience, sourceLocation: sourceLocation) {
    await isTrue()
  }
}
#endif
