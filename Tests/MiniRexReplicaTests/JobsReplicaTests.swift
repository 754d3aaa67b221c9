import MiniRex
import MiniRexReplica
import MiniRexStore
import TestSupport
import Testing

private struct Charge: Codable, Equatable, Identifiable, Sendable {
  var id: Int
}

private struct Shop: Codable, Equatable, Sendable {
  var charges = Jobs<Charge>()
  var receipts: [Int] = []
}

private enum ShopAction: Codable, Sendable {
  case ordered(Int)
  case charged(Int)
  case charges(JobsAction<Charge>)
}

private struct Refused: Error {}

/// Jobs of a replica, which may reject the beginning of an attempt.
@Suite(.light) struct JobsReplicaTests {
  @Test func `W3 a job whose beginning is rejected does not keep the turn of its key`() async throws
  {
    let log = MemoryLog()
    let replica = try Replica(
      Shop(), of: log.link(),
      reducer: { (shop: inout Shop, action: ShopAction) in
        switch action {
        case .ordered(let id): shop.charges.add(Charge(id: id))
        case .charged(let id):
          shop.receipts.append(id)
          shop.charges.remove(id)
        case .charges(let action): shop.charges.reduce(action)
        }
        return .none
      },
      validating: { _, action in
        if case .charges(.began(let id, _, _)) = action, id.isMultiple(of: 7) { throw Refused() }
      })
    let store = replica.store
    let working = store.perform(
      \.charges, ShopAction.charges, atMost: 4, order: .serially { $0.id % 3 }
    ) { charge, _ in
      await Task.yield()
      return .charged(charge.id)
    }

    // Other commits come between a beginning and its rejection.
    onThreads(2) { thread in
      for id in 0..<100 where id % 2 == thread { replica.send(.ordered(id)) }
    }
    await until { store.state.charges.counts == JobCounts(pending: 15) }

    #expect(Set(store.state.receipts) == Set((0..<100).filter { !$0.isMultiple(of: 7) }))
    #expect(store.state.receipts.count == 85)
    #expect(store.state.charges.allSatisfy { $0.id.isMultiple(of: 7) })
    await working.invalidateAndWait()
    await replica.close()
  }
}
