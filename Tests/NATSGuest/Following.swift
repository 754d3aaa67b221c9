#if NATS
import MiniRex
import MiniRexNATS
import MiniRexNATSStore
import MiniRexStore

/// Sends amounts on request, and answers requests for its state at a sequence.
func followLedger(
  as name: String, sending count: Int, over nats: NATSConnection, in bag: SubscriptionBag
) async throws {
  let replica = try await LedgerReplica(Ledger(), of: "ledger", over: nats, reducer: reduce)
  nats.reply(on: "\(name).state") { (sequence: UInt64) in
    PublishedTask<String, Never> { () async -> String in
      for await last in replica.sequence.values(.unbounded) where last >= sequence { break }
      return replica.store.state.text
    }
  }.store(in: bag)
  nats.reply(on: "\(name).begin") { (_: String) in
    for number in 1...count { replica.send(.entered(Double(number), by: name)) }
    return PublishedTask<Int, Never>.success(count)
  }.store(in: bag)
  while true { try await Task.sleep(for: .seconds(600)) }
}
#endif
