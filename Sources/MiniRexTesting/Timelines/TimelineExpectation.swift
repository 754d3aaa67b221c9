internal import MiniRex

/// A subscription with its period and its expected updates.
struct TimelineExpectation {
  let length: Int
  let begin: Int
  /// The step of the cancellation, or `nil` for the end of the timeline.
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
    var subscription: Subscription?
    length = max(marbles.steps.count, periodMarbles.steps.count)
    enter = {
      subscription = publisher.subscribe {
        log.append(.update($0), in: now())
      } onEnd: {
        log.append(.end, in: now())
      }
    }
    leave = { subscription?.invalidate() }
    outcome = {
      let received = log.steps
      let differs = { (index: Int) in
        (index < expected.count ? expected[index] : [])
          != (index < received.count ? received[index] : [])
      }
      var unnamed: [String] = []
      let letters = received.map { $0.map { letter(of: $0, in: values, &unnamed) } }
      return TimelineOutcome(
        period: period == "^" ? nil : periodMarbles.steps, expected: marbles.steps,
        received: letters,
        difference: (0..<max(expected.count, received.count)).first(where: differs),
        unnamed: unnamed)
    }
  }
}

/// The expected and the received updates, in characters.
struct TimelineOutcome {
  /// The period of the subscription, or `nil` for the entire timeline.
  let period: [[Character]]?
  let expected: [[Character]]
  let received: [[Character]]
  /// The first step that differs, or `nil` if all steps are equal.
  let difference: Int?
  /// The received updates without a letter, in order.
  let unnamed: [String]
}

private func letter<Update: Equatable>(
  of event: TimelineEvent<Update>, in values: [Character: Update], _ unnamed: inout [String]
) -> Character {
  guard case .update(let update) = event else { return "|" }
  let letters = values.filter { $0.value == update }.keys
  if let letter = letters.min() { return letter }
  unnamed.append("\(update)")
  return "?"
}

/// The received updates of each step.
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
