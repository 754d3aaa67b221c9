import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

private struct Hall: Sendable {
  var free: Set<Int> = [1, 2]
  var owners: [Int: String] = [:]
}

private enum HallAction: Sendable { case reserved(Int, by: String) }

private enum Refusal: Error, Equatable { case taken }

private let booking: Reducer<Hall, HallAction> = { state, action in
  switch action {
  case .reserved(let seat, let user):
    state.free.remove(seat)
    state.owners[seat] = user
  }
  return .none
}

private struct Counter: Sendable { var count = 0 }

private enum CounterAction: Sendable { case add(Int) }

private let counting: Reducer<Counter, CounterAction> = { state, action in
  switch action {
  case .add(let amount): state.count += amount
  }
  return .none
}

/// The code of the comments of `Receipt` and of sends that return it, and of GettingStartedWithAStore.md.
@Suite(.light) struct ReceiptSamples {
  let paper = Paper()

  func print(_ line: Any) { paper.print("\(line)") }

  @Test func `a receipt has the value of its own commit`() {
    let store = Store(Counter(count: 6), reducer: counting)
    do {
      let receipt = store.send(.add(1)) { $0.count }
      print(receipt.value)
    }
    let receipt = store.send(.add(1)) { $0.count }
    #expect(receipt.value == 8 && receipt.number == 2)
    #expect(paper.lines == ["7"])
  }

  @Test func `a decision refuses or commits`() throws {
    let store = Store(Hall(), reducer: booking)
    func reserve(_ seat: Int, _ user: String) throws(Refusal) {
      try store.send { state throws(Refusal) in
        guard state.free.contains(seat) else { throw .taken }
        return .reserved(seat, by: user)
      }
    }

    try reserve(1, "Ada")
    #expect(throws: Refusal.taken) { try reserve(1, "Rex") }
    #expect(store.state.owners == [1: "Ada"])
  }

  @Test func `identifiers sort by their time`() {
    struct List: Sendable { var texts: [PushID: String] = [:] }
    enum ListAction: Sendable { case add(id: PushID, text: String) }
    let store = Store(List()) { (state: inout List, action: ListAction) -> Effect<ListAction> in
      switch action {
      case .add(let id, let text): state.texts[id] = text
      }
      return .none
    }
    let ids = PushIDSource { Int64(Date.now.timeIntervalSince1970 * 1_000) }
    store.send(.add(id: ids.next(), text: "Wash"))
    store.send(.add(id: ids.next(), text: "Cook"))

    #expect(store.texts.sorted { $0.key < $1.key }.map(\.value) == ["Wash", "Cook"])
  }

  @Test func `onChange reacts in the same commit`() {
    struct Search: Sendable {
      var query = ""
      var results = ["old"]
    }
    enum SearchAction: Sendable, Equatable {
      case queryChanged(String)
      case search
    }
    let editing: Reducer<Search, SearchAction> = { state, action in
      if case .queryChanged(let query) = action { state.query = query }
      return .none
    }
    let searching = onChange(of: \.query, in: editing) { state, old in
      state.results = []
      return .send(.search)
    }

    let store = Store(Search(), reducer: searching)
    #expect(store.send(.queryChanged("a")).number == 2)
    #expect(store.state.results.isEmpty)
  }
}
