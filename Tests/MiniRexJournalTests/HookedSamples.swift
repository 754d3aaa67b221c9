import MiniRexJournal
import MiniRexStore
import TestSupport

@testable import journal_keeper

/// Closures that the next encoding of a state calls at its beginning, by the name in the state.
let hooks = Shared<[String: @Sendable () -> Void]>([:])
/// Closures that the next encoding calls at its end, which the estimate of a large size does not reach.
let lateHooks = Shared<[String: @Sendable () -> Void]>([:])

/// A state whose encoding can call the test.
struct Hooked: Codable, Sendable, Equatable {
  var name: String
  var total = 0
  var texts: [String] = []

  init(_ name: String) { self.name = name }

  func encode(to encoder: any Encoder) throws {
    hooks.change { $0.removeValue(forKey: name) }?()
    if name == "unwritable" {
      let context = EncodingError.Context(codingPath: [], debugDescription: "It has no form.")
      throw EncodingError.invalidValue(self, context)
    }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(total, forKey: .total)
    try container.encode(texts, forKey: .texts)
    lateHooks.change { $0.removeValue(forKey: name) }?()
  }
}

enum HookedAction: Codable, Sendable {
  case add(Stubborn)
  case write(String)
}

func add(_ amount: Int) -> HookedAction { .add(Stubborn(amount: amount)) }

let hooking: Reducer<Hooked, HookedAction> = { state, action in
  switch action {
  case .add(let amount): state.total += amount.amount
  case .write(let text): state.texts = [text]
  }
  return .none
}

typealias HookedJournal = Journal<Hooked, HookedAction>
