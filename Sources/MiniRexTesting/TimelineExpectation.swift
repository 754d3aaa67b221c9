internal import MiniRex

/// A subscription: when it begins and ends, and what it is expected to be called with.
struct TimelineExpectation {
  let length: Int
  let begin: Int
  /// `nil` if it does not end before the timeline does.
  let end: Int?
  let enter: () -> Void
  let leave: () -> Void
  let outcome: () -> TimelineOutcome

  init<Update: Sendable & Equatable, Kind: PublisherKind>(
    _ line: String, _ values: [Character: Update], _ period: String,
    _ publisher: Publisher<Update, Kind>, now: @escaping @Sendable () -> Int
  ) {
    let marbles = MarbleLine(line)
    let expected = marbles.events(values)
    let periodMarbles = MarbleLine(period)
    (begin, end) = periodMarbles.subscription
    let log = TimelineLog<Update>()
    var token: Subscription?
    length = max(marbles.steps.count, periodMarbles.steps.count)
    enter = {
      token = publisher.subscribe {
        log.append(.update($0), in: now())
      } onEnd: {
        log.append(.end, in: now())
      }
    }
    leave = { token?.invalidate() }
    outcome = {
      let came = log.steps
      let differs = { (index: Int) in
        (index < expected.count ? expected[index] : []) != (index < came.count ? came[index] : [])
      }
      var strangers: [String] = []
      let letters = came.map { $0.map { letter(of: $0, in: values, &strangers) } }
      return TimelineOutcome(
        period: period == "^" ? nil : periodMarbles.steps, expected: marbles.steps, came: letters,
        difference: (0..<max(expected.count, came.count)).first(where: differs),
        strangers: strangers)
    }
  }
}

/// What was expected and what came, in characters.
struct TimelineOutcome {
  /// `nil` if it is the whole time.
  let period: [[Character]]?
  let expected: [[Character]]
  let came: [[Character]]
  /// The first step in which they differ; `nil` if they are the same.
  let difference: Int?
  /// What came and has no letter, in the order in which it came.
  let strangers: [String]
}

private func letter<Update: Equatable>(
  of event: TimelineEvent<Update>, in values: [Character: Update], _ strangers: inout [String]
) -> Character {
  guard case .update(let update) = event else { return "|" }
  let letters = values.filter { $0.value == update }.keys
  if let letter = letters.min() { return letter }
  strangers.append("\(update)")
  return "?"
}

/// What has come, in the steps in which it came.
private final class TimelineLog<Update: Sendable>: Sendable {
  private let log = Lock<[[TimelineEvent<Update>]]>([])

  var steps: [[TimelineEvent<Update>]] { log.withLock { $0 } }

  func append(_ event: TimelineEvent<Update>, in index: Int) {
    log.withLock { steps in
      while steps.count <= index { steps.append([]) }
      steps[index].append(event)
    }
  }
}
