import Foundation
import MiniRex
import MiniRexJournal
import MiniRexPageServer
import MiniRexStore

/// Answers requests from the store, and charges the orders.
final class Service: Sendable {
  private struct NewOrder: Decodable {
    var customer: String
    var amount: Int
  }

  let store: Store<Shop, Action>
  private let journal: Journal<Shop, Action>
  private let recording: Subscription
  private let charging: Subscription
  private let stopped = TaskSource<Void, Never>()

  init(_ journal: Journal<Shop, Action>, bank: Bank) throws {
    self.journal = journal
    let store = Store(try journal.replay(Shop(), reducer: selling), name: "shop", reducer: selling)
    self.store = store
    recording = journal.record(store)
    charging = store.perform(
      \.charges, Action.charges, atMost: 4, order: .serially(by: \.customer),
      retrying: .exponential(from: .seconds(1), upTo: .seconds(60), attempts: 20) {
        if case Bank.Failure.refused = $0 { false } else { true }
      }, in: journal
    ) { charge, _ in
      .charged(charge.id, receipt: try await bank.pay(charge, idempotencyKey: charge.id))
    }
  }

  /// Finishes after `stop()`.
  var whileServing: PublishedTask<Void, Never> { stopped.publisher }

  /// Interrupts the charges, which the next run of the program repeats.
  func stop() async {
    await charging.invalidateAndWait()
    try? await journal.flush()
    stopped.finish(.success(()))
  }

  func answer(_ request: Request) async -> Reply {
    switch (request.method, request.path) {
    case ("GET", "/orders"): json(Array(store.state.orders))
    case ("GET", "/charges"): json(Array(store.state.charges))
    case ("POST", "/orders"): await order(request.body)
    case ("POST", let path) where path.hasPrefix("/charges/"): retry(path)
    case ("GET", _): .status(.notFound)
    default: .status(.notAllowed)
    }
  }

  /// Answers when the order is on the disk, and does not wait for the bank.
  private func order(_ body: Data) async -> Reply {
    guard let new = try? JSONDecoder().decode(NewOrder.self, from: body), new.amount > 0 else {
      return .status(.badRequest, because: #"Send {"customer": "Ann", "amount": 5}."#)
    }
    do {
      let action = Action.ordered(customer: new.customer, amount: new.amount)
      return json(try await store.send(action, in: journal) { $0.orders.last }.value)
    } catch {
      return .status(.unavailable, because: "The order may be lost: \(error)")
    }
  }

  /// Tries a charge again that was given up.
  private func retry(_ path: String) -> Reply {
    guard let id = Int(path.dropFirst("/charges/".count)), store.state.charges[id: id] != nil else {
      return .status(.notFound)
    }
    store.send(.charges(.retry(id)))
    return json(store.state.charges[id: id])
  }

  private func json(_ value: some Encodable) -> Reply {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return .content("application/json", (try? encoder.encode(value)) ?? Data())
  }
}
