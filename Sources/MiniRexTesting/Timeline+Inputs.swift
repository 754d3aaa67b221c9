public import MiniRex

extension Timeline {
  /// An input that broadcasts the letters of the line.
  public func broadcaster(_ line: String) -> Broadcaster<Character> {
    broadcaster(line, letters(of: line))
  }

  /// An input that broadcasts what stands in the line.
  ///
  /// - Parameters:
  ///   - line: When it updates and ends.
  ///   - values: What the letters stand for, perhaps other inputs.
  public func broadcaster<Update: Sendable>(
    _ line: String, _ values: [Character: Update]
  ) -> Broadcaster<Update> {
    let source = BroadcastSource<Update>()
    add(
      TimelineInput("broadcaster", line, values) { event in
        switch event {
        case .update(let update): source.broadcast(update)
        case .end: source.end()
        }
      })
    return source.publisher
  }

  /// An input whose value is the last letter in the line.
  public func value(_ line: String) -> PublishedValue<Character> {
    value(line, letters(of: line))
  }

  /// An input whose value is what came last in the line.
  ///
  /// - Parameters:
  ///   - line: When it changes and ends; it begins with the value that it has from the start.
  ///   - values: What the letters stand for, perhaps other inputs.
  public func value<Value: Sendable>(
    _ line: String, _ values: [Character: Value]
  ) -> PublishedValue<Value> {
    let marbles = MarbleLine(line)
    guard let letter = marbles.updates.first?.first, let first = values[letter] else {
      marbles.stop("is a value, but does not begin with one")
    }
    let property = PublishedProperty(first)
    var isFirst = true
    add(
      TimelineInput("value", line, values) { event in
        switch event {
        case .update where isFirst: isFirst = false
        case .update(let value): property.value = value
        case .end: property.end()
        }
      })
    return property.publisher
  }

  /// An input that finishes with the result in the line; with `|` instead, it ends without one.
  ///
  /// - Parameters:
  ///   - line: When it finishes.
  ///   - results: What the letters stand for.
  public func task<Success: Sendable, Failure: Error>(
    _ line: String, _ results: [Character: Result<Success, Failure>]
  ) -> PublishedTask<Success, Failure> {
    let source = TaskSource<Success, Failure>()
    let publisher = source.publisher
    var unfinished: TaskSource? = source
    add(
      TimelineInput("task", line, results) { event in
        switch event {
        case .update(let result): unfinished?.finish(result)
        case .end: unfinished = nil
        }
      })
    return publisher
  }
}

/// What happens in a step.
enum TimelineEvent<Update> {
  case update(Update)
  case end
}

extension TimelineEvent: Equatable where Update: Equatable {}

extension TimelineEvent: Sendable where Update: Sendable {}

extension MarbleLine {
  func events<Update>(_ values: [Character: Update]) -> [[TimelineEvent<Update>]] {
    updates.map { step in
      step.map { letter in
        if letter == "|" { return .end }
        if let value = values[letter] { return .update(value) }
        stop("has a '\(letter)', which is not in its table")
      }
    }
  }
}

/// A line that updates something.
struct TimelineInput {
  let name: String
  let steps: [[Character]]
  let update: (_ index: Int) -> Void

  init<Update>(
    _ name: String, _ line: String, _ values: [Character: Update],
    _ act: @escaping (TimelineEvent<Update>) -> Void
  ) {
    let marbles = MarbleLine(line)
    let events = marbles.events(values)
    self.name = name
    steps = marbles.steps
    update = { for event in events[$0] { act(event) } }
  }
}
