#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

/// Error codes of servers that are not installed here, sent by a process that answers as a stream.
@Suite(.heavy)
struct RefusalTests {
  @Test(arguments: [
    (10_071, "wrong last sequence: 7", NATSError.revision(7)),
    (10_164, "wrong last sequence", .revision(nil)),
    (10_059, "stream not found", .noStream("board")),
    (10_039, "JetStream not enabled for account", .noStream("board")),
    (10_076, "JetStream not enabled", .noStream("board")),
    (
      10_163, "expected last sequence per subject temporarily unavailable",
      .jetStream(
        code: 10_163, message: "expected last sequence per subject temporarily unavailable")
    ),
  ])
  func `N8 a refusal of the server is one error, whatever its code`(
    _ code: Int, _ words: String, _ error: NATSError
  ) async throws {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let answer =
      #"{"error":{"code":400,"err_code":\#(code),"description":"\#(words)"},"stream":"board","seq":0}"#
    let answering = nats.reply(on: "board") { (_: Int) in
      PublishedTask<Data, NATSError>.success(Data(answer.utf8))
    }
    try await nats.areSubscribed()
    let appended = await nats.stream("board").append(1, expecting: 3).result
    #expect(appended == .failure(error))
    answering.invalidate()
  }
}
#endif
