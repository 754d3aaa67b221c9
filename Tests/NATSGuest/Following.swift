#if NATS
import MiniRex
import MiniRexNATS
import MiniRexNATSStore
import MiniRexReplica
import MiniRexStore

/// Sends amounts on request, and answers requests for its state at a sequence.
func followLedger(
  as name: String, sending count: Int, over nats: NATSConnection, in bag: SubscriptionBag
) async throws {
  let replica = try LedgerReplica(Ledger(), of: nats.log("ledger"), reducer: reduce)
  nats.reply(on: "\(name).state") { (lines: Int) in
    PublishedTask<String, Never> { () async -> String in
      for await state in replica.confirmed.values(.unbounded) where state.lines.count >= lines {
        return state.text
      }
      return ""
    }
  }.store(in: bag)
  nats.reply(on: "\(name).begin") { (_: String) in
    for number in 1...count { replica.send(.entered(Double(number), by: name)) }
    return PublishedTask<Int, Never>.success(count)
  }.store(in: bag)
  while true { try await Task.sleep(for: .seconds(600)) }
}
#endif
