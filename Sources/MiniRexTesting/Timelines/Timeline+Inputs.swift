public import MiniRex

extension Timeline {
  /// Returns a broadcaster that emits the letters of the line.
  public func broadcaster(_ line: String) -> Broadcaster<Character> {
    broadcaster(line, letters(of: line))
  }

  /// Returns a broadcaster that emits the updates of the line.
  ///
  /// - Parameters:
  ///   - line: The updates and the end.
  ///   - values: The updates of the letters, which may be other inputs.
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

  /// Returns a published value whose current value is the last letter of the line.
  public func value(_ line: String) -> PublishedValue<Character> {
    value(line, letters(of: line))
  }

  /// Returns a published value whose current value is the last value of the line.
  ///
  /// - Parameters:
  ///   - line: The changes and the end. The first step is the initial value.
  ///   - values: The values of the letters, which may be other inputs.
  public func value<Value: Sendable>(
    _ line: String, _ values: [Character: Value]
  ) -> PublishedValue<Value> {
    let marbles = MarbleLine(line)
    guard let letter = marbles.updates.first?.first, let first = values[letter] else {
      marbles.stop("does not begin with a value. Write a letter in the first step")
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

  /// Returns a task that finishes with the result in the line, or without a result at `|`.
  ///
  /// - Parameters:
  ///   - line: The step of the result or the end.
  ///   - results: The results of the letters.
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

/// One update or the end, in a step.
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
        stop("has a '\(letter)'. Add it to the table of values")
      }
    }
  }
}

/// A line that drives a source.
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
