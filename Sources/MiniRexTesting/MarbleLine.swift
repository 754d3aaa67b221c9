internal import MiniRex

/// A marble string, taken apart: what happens in each step, as characters.
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
      case ("(", _): stop("opens a group inside a group. Write all that comes in a step as '(abc)'")
      case (")", nil): stop("closes a group that it has not opened. Groups are written '(ab)'")
      case (")", let events?):
        steps.append(events)
        group = nil
      case ("-", nil): steps.append([])
      case ("-", _): stop("lets time pass in a group, which is one step. Take the '-' out of it")
      case (_, nil): steps.append([character])
      case (_, let events?): group = events + [character]
      }
    }
    if group != nil { stop("does not close its group. Groups are written '(ab)'") }
  }

  /// The steps of an input or an expectation: letters, and nothing after the end.
  var updates: [[Character]] {
    let events = steps.joined()
    if let end = events.firstIndex(of: "|"), events.index(after: end) != events.endIndex {
      stop("goes on after its end. Nothing comes after '|'")
    }
    if events.contains("^") || events.contains("!") {
      stop("has a '^' or a '!', which stand in the line after 'during' only")
    }
    return steps
  }

  /// The steps in which a subscription begins, and ends if it does.
  var subscription: (begin: Int, end: Int?) {
    let begin = steps.firstIndex { $0.contains("^") }
    let end = steps.firstIndex { $0.contains("!") }
    let signs = Array(steps.joined())
    guard let begin, signs == ["^"] || signs == ["^", "!"], begin != end else {
      stop("is no subscription. Write one '^' where it begins, and a '!' where it ends, if it does")
    }
    return (begin, end)
  }

  /// A line stands in the source of a test, so a mistake in it is the programmer's.
  func stop(_ reason: String) -> Never {
    misuse("The timeline '\(text)' \(reason).")
  }
}
