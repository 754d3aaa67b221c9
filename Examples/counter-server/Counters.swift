import MiniRexStore

/// The counters by name, which the journal keeps.
struct Counters: Codable, Equatable, Sendable {
  var values: [String: Int] = [:]
}

enum CounterAction: Codable, Equatable, Sendable {
  case added(Int, to: String)
}

let reducer: Reducer<Counters, CounterAction> = { state, action in
  switch action {
  case .added(let amount, let name): state.values[name, default: 0] += amount
  }
  return .none
}

/// The reason why a counter is not decreased.
enum Refusal: Error, Equatable {
  case insufficient(Int)
}
