import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

private struct Order: Codable, Identifiable, Sendable {
  var id: Int
  var customer: String
  var receipt: String?
}

private struct Charge: Codable, Identifiable, Sendable {
  var id: Int
  var customer: String

  init(_ order: Order) {
    id = order.id
    customer = order.customer
  }
}

private struct Shop: Codable, Sendable {
  var orders = Rows<Order>()
  var charges = Jobs<Charge>()
}

private enum Action: Codable, Sendable {
  case ordered(Order)
  case charged(Order.ID, String)
  case charges(JobsAction<Charge>)
}

private func reduce(_ shop: inout Shop, _ action: Action) -> Effect<Action> {
  switch action {
  case .ordered(let order):
    shop.orders.append(order)
    shop.charges.add(Charge(order))  // the same commit
  case .charged(let id, let receipt):
    shop.orders[id: id]?.receipt = receipt
    shop.charges.remove(id)
  case .charges(let action): shop.charges.reduce(action)
  }
  return .none
}

private struct Unreachable: Error {}

@Sendable private func pay(_ charge: Charge, idempotencyKey: Int) async throws -> String {
  "paid \(idempotencyKey)"
}

/// The samples of the article *Work that survives*.
@Suite(.light) struct JobSamples {
  @Test func `a shop charges its orders`() async throws {
    let folder = try Folder()
    let file = folder.file("journal")

    let journal = try Journal<Shop, Action>(file)
    let store = Store(try journal.replay(Shop(), reducer: reduce), reducer: reduce)
    let recording = journal.record(store)
    let working = store.perform(
      \.charges, Action.charges, atMost: 4,
      retrying: .exponential(from: .seconds(1), upTo: .seconds(300)), in: journal
    ) { charge, attempt in
      .charged(charge.id, try await pay(charge, idempotencyKey: charge.id))
    }

    store.send(.ordered(Order(id: 1, customer: "Ann")))
    await until { store.state.charges.isEmpty }
    #expect(store.state.orders[id: 1]?.receipt == "paid 1")

    let failed = store.live(\.charges).filter { $0.status == .failed }
    #expect(failed.current().isEmpty)
    await working.invalidateAndWait()
    withExtendedLifetime((folder, recording)) {}
  }

  @Test func `a shop without a journal charges its orders`() async {
    let store = Store(Shop(), reducer: reduce)
    let working = store.perform(\.charges, Action.charges, atMost: 4) { charge, attempt in
      .charged(charge.id, try await pay(charge, idempotencyKey: charge.id))
    }

    store.send(.ordered(Order(id: 1, customer: "Ann")))

    await until { store.state.charges.isEmpty }
    withExtendedLifetime(working) {}
  }

  @Test func `a shop charges each customer serially, and gives up`() async {
    let retry = JobRetry.constant(.seconds(5), attempts: 20) { $0 is Unreachable }
    let store = Store(Shop(), reducer: reduce)
    let working = store.perform(
      \.charges, Action.charges, atMost: 4,
      order: .serially(by: \.customer),
      retrying: retry
    ) { _, _ in throw CancellationError() }

    store.send(.ordered(Order(id: 1, customer: "Ann")))

    await until { store.state.charges.counts.failed == 1 }
    withExtendedLifetime(working) {}
  }
}
