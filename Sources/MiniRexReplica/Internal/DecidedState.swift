/// The state that follows from the log up to a sequence.
struct DecidedState<State: Codable & Sendable>: Codable, Sendable {
  var sequence: UInt64 = 0
  var table = DecisionTable()
  var state: State

  init(_ state: State) { self.state = state }
}
