#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

@Suite(.heavy)
struct OutdatedStreamTests {
  /// A leader without contact to the others, and a server without a leader.
  @Test(arguments: [
    #""leader": "a", "replicas": [{"active": 9000000000}, {"active": 4000000000}]"#,
    #""leader": "a", "replicas": [{"active": 1, "offline": true}, {"active": 4000000000}]"#,
    #""replicas": [{"active": 0}, {"active": 0}, {"active": 0}]"#,
  ])
  func `O9 a server without a quorum does not show that a log went back`(
    _ cluster: String
  ) async throws {
    let server = try await NATSServer()
    let nats = NATSConnection(server.url)
    let (answer, count) = (Shared(information(cluster)), Shared(0))
    let service = nats.reply(on: "$JS.API.STREAM.INFO.ledger") { (_: String) in
      count.increment()
      return PublishedTask<String, Never>.success(answer.value)
    }
    try await nats.areSubscribed()
    let ends = Recorder(
      nats.stream("ledger").log(after: 5).compactMap { event -> UInt64? in
        if case .connected(let state) = event { state.last } else { nil }
      })
    await until { count.value > 2 || !ends.updates.isEmpty }
    #expect(ends.updates == [])

    answer.value = information(
      #""leader": "b", "replicas": [{"active": 9000000000}, {"active": 1000000}]"#)

    #expect(await ends.next() == [3])
    withExtendedLifetime(service) {}
    await nats.close()
  }

  private func information(_ cluster: String) -> String {
    """
    {
      "created": "2026-11-25T22:00:00Z",
      "config": {
        "name": "ledger", "subjects": ["ledger"], "retention": "limits", "max_msgs": -1,
        "max_bytes": -1, "max_age": 0, "max_msgs_per_subject": -1, "max_msg_size": -1,
        "discard": "old", "storage": "file", "num_replicas": 3, "duplicate_window": 120000000000
      },
      "state": {"messages": 3, "first_seq": 1, "last_seq": 3, "last_ts": "2026-11-25T23:00:00Z"},
      "cluster": {"name": "test", \(cluster)}
    }
    """
  }
}
#endif
