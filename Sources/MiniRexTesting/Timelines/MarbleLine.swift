internal import MiniRex

/// The characters of each step of a line.
struct MarbleLine: Sendable {
  let text: String
  private(set) var steps: [[Character]] = []

  init(_ text: String) {
    self.text = text
    var group: [Character]?
    for character in text {
      switch (character, group) {
      case (" ", _): continue
      case ("(", nil): group = []
      case ("(", _): stop("opens a group inside a group. Write all updates of a step as '(abc)'")
      case (")", nil): stop("closes a group that is not open. Write a group as '(ab)'")
      case (")", let events?):
        steps.append(events)
        group = nil
      case ("-", nil): steps.append([])
      case ("-", _): stop("has a '-' in a group. A group is one step, so remove the '-'")
      case (_, nil): steps.append([character])
      case (_, let events?): group = events + [character]
      }
    }
    if group != nil { stop("does not close its group. Write a group as '(ab)'") }
  }

  /// The steps of an input or an expectation: letters, and at most one end.
  var updates: [[Character]] {
    let events = steps.joined()
    if let end = events.firstIndex(of: "|"), events.index(after: end) != events.endIndex {
      stop("continues after its end. Remove the characters after '|'")
    }
    if events.contains("^") || events.contains("!") {
      stop("has a '^' or a '!'. Write them in the line after 'during' only")
    }
    return steps
  }

  /// The step that subscribes, and the step that cancels.
  var subscription: (begin: Int, end: Int?) {
    let begin = steps.firstIndex { $0.contains("^") }
    let end = steps.firstIndex { $0.contains("!") }
    let signs = Array(steps.joined())
    guard let begin, signs == ["^"] || signs == ["^", "!"], begin != end else {
      stop(
        "is not a subscription. Write one '^' where it begins, and at most one '!' where it is canceled"
      )
    }
    return (begin, end)
  }

  /// Traps, because a line is a literal in the source of a test.
  func stop(_ reason: String) -> Never {
    misuse("The timeline '\(text)' \(reason).")
  }
}
