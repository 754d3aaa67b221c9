#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexNATSStore
import MiniRexReplica
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing
@testable import nats_guest

/// Streams with limits.
@Suite(.heavy)
struct ReplicaLimitTests {
  @Test(arguments: ["maxMessages", "maxBytes", "maxAge"])
  func `O12 a stream that can drop entries is refused`(_ limit: String) async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    var options = NATSStreamOptions()
    switch limit {
    case "maxMessages": options.maxMessages = 50
    case "maxBytes": options.maxBytes = 1 << 20
    default: options.maxAge = .seconds(3_600)
    }
    let log = nats.log("ledger")
    #expect(await log.create(options).hasSucceeded())

    let replica = try LedgerReplica.make(log)
    let sent = replica.send(.entered(1, by: "a"))

    await until { replica.progress.current()?.phase == .stopped }
    guard case .unsuitable(let reason)? = replica.progress.current()?.trouble else {
      Issue.record("\(String(describing: replica.progress.current()))")
      return
    }
    #expect(reason.contains(limit))
    guard case .failure(.stopped(.unsuitable))? = await sent.result else {
      Issue.record("The action was not refused.")
      return
    }
    #expect(await nats.stream("ledger").append("first").result == .success(1))
    await nats.close()
  }

  @Test func `O12 a late replica of a stream that has dropped entries names the limit`()
    async throws
  {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    var options = NATSStreamOptions()
    options.maxMessages = 5
    let log = nats.log("ledger")
    #expect(await log.create(options).hasSucceeded())
    for _ in 1...10 { #expect(await nats.stream("ledger").append("old").hasSucceeded()) }

    let replica = try LedgerReplica.make(log)

    await until { replica.progress.current()?.phase == .stopped }
    guard case .unsuitable? = replica.progress.current()?.trouble else {
      Issue.record("\(String(describing: replica.progress.current()))")
      return
    }
    await nats.close()
  }

  @Test func `O12 a full stream keeps actions pending and reports it`() async throws {
    let server = try await NATSServer.keeping()
    let nats = NATSConnection(server.url)
    var options = NATSStreamOptions()
    (options.maxMessages, options.discardPolicy) = (3, .new)
    let log = nats.log("ledger")
    #expect(await log.create(options).hasSucceeded())
    let replica = try LedgerReplica.make(log)
    let troubles = Recorder(replica.troubles)
    for number in 1...3 {
      let sent = replica.send(.entered(Double(number) + 0.5, by: "a"))
      #expect(await sent.success()?.sequence == UInt64(number))
    }

    let pending = (4...5).map { replica.send(.entered(Double($0) + 0.5, by: "a")) }
    guard case .refused? = await troubles.next().first else {
      Issue.record("\(troubles.updates)")
      return
    }
    #expect(await nats.stream("ledger").purge(before: 3).hasSucceeded())

    for task in pending { #expect(await task.success() != nil) }
    #expect(troubles.updates.count == 1)
    #expect(replica.store.state.lines == (1...5).map { "a \(Double($0) + 0.5)" })
    await replica.close()
    await nats.close()
  }
}
#endif
