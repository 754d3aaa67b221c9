/// The expected events of a subscriber.
enum TrialExpectation {
  case events([TrialEvent])
  /// Consecutive numbers up to `to`, from any first number, and then the rest.
  ///
  /// A publisher that conflates may drop some of the numbers before `to`.
  case run(to: Int, conflates: Bool, then: [TrialEvent] = [])
  /// Any events, which the script checks itself.
  case anything

  func isComplete(_ received: [TrialEvent]) -> Bool {
    switch self {
    case .events(let events): received.count >= events.count
    case .run(let last, _, let rest): received.suffix(1 + rest.count) == [.update(last)] + rest
    case .anything: true
    }
  }

  func isMet(by received: [TrialEvent]) -> Bool {
    switch self {
    case .events(let events):
      return received == events
    case .run(_, let conflates, _):
      let numbers = received.compactMap(\.number)
      let steps = zip(numbers, numbers.dropFirst())
      return isComplete(received) && steps.allSatisfy { conflates ? $0 < $1 : $0 + 1 == $1 }
    case .anything:
      return true
    }
  }

  /// Advice for an operator that drops updates by design.
  static let advice =
    "If the operator drops updates by design, test it with an argument that drops none: "
    + "see 'Writing an operator'."

  /// Returns `true` if some of the expected updates are missing, and the received updates are in order.
  func isMissing(from received: [TrialEvent]) -> Bool {
    guard case .events(let events) = self else { return false }
    var rest = received[...]
    for event in events where event == rest.first { rest.removeFirst() }
    return rest.isEmpty && received.count < events.count
  }

  var words: String {
    switch self {
    case .events(let events): events.words
    case .run(let last, false, let rest):
      "consecutive updates that end with \(([.update(last)] + rest).words)"
    case .run(let last, true, let rest):
      "updates in order that end with \(([.update(last)] + rest).words)"
    case .anything: "anything"
    }
  }
}
