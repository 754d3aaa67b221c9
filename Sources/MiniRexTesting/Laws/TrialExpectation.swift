/// What a subscriber is to be called with.
enum TrialExpectation {
  case events([TrialEvent])
  /// In the end this number, and then the rest. Before it come the numbers before it, from any on;
  /// if it may conflate, only some of them.
  case run(to: Int, conflates: Bool, then: [TrialEvent] = [])
  /// Whatever the script compares by itself.
  case anything

  func isComplete(_ came: [TrialEvent]) -> Bool {
    switch self {
    case .events(let events): came.count >= events.count
    case .run(let last, _, let rest): came.suffix(1 + rest.count) == [.update(last)] + rest
    case .anything: true
    }
  }

  func isMet(by came: [TrialEvent]) -> Bool {
    switch self {
    case .events(let events):
      return came == events
    case .run(_, let conflates, _):
      let numbers = came.compactMap(\.number)
      let steps = zip(numbers, numbers.dropFirst())
      return isComplete(came) && steps.allSatisfy { conflates ? $0 < $1 : $0 + 1 == $1 }
    case .anything:
      return true
    }
  }

  /// For those whose operator does what it should, but not what is asked here.
  static let advice =
    "If it leaves updates out on purpose, let it pass on all that it is sent here: "
    + "see 'Writing an operator'."

  /// True if some of the updates have come, or none, and nothing else.
  func isMissing(from came: [TrialEvent]) -> Bool {
    guard case .events(let events) = self else { return false }
    var rest = came[...]
    for event in events where event == rest.first { rest.removeFirst() }
    return rest.isEmpty && came.count < events.count
  }

  var words: String {
    switch self {
    case .events(let events): events.words
    case .run(let last, false, let rest):
      "a run without gaps that ends with \(([.update(last)] + rest).words)"
    case .run(let last, true, let rest):
      "updates in order, the last of them \(([.update(last)] + rest).words)"
    case .anything: "anything"
    }
  }
}
