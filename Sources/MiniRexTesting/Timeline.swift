public import MiniRex

/// A script of inputs and expected updates, in steps of a manual clock.
///
/// ```swift
/// let timeline = Timeline()
/// let left = timeline.broadcaster(" a-b---|")
/// let right = timeline.broadcaster("--c-d|")
/// timeline.expect("                 a-(bc)-d-|", from: merge(left, right))
/// #expect(timeline.play() == nil)
/// ```
///
/// A line has one character for each step: `-` is a step without an update, a letter is an update, `(ab)` is
/// several updates in one step, and `|` is the end. Any other character counts as a letter. The value of a
/// letter is in a table. Without a table, the letter itself is the value. Spaces only align the lines.
///
/// Each step cancels subscriptions, runs the due actions of the ``clock``, subscribes, and sends inputs, in
/// this order. Within each of these, the order is the order of the calls. The timeline is as long as its
/// longest line. Write a few `-` at the end to check that no other update follows.
///
/// Traps with advice if a line is invalid.
public final class Timeline {
  /// The clock of the timeline, for operators with a clock.
  public let clock = ManualClock()

  private let step: Duration
  private var inputs: [TimelineInput] = []
  private var expectations: [TimelineExpectation] = []
  private var hasPlayed = false

  /// Creates a timeline without lines.
  ///
  /// - Parameter step: The duration of a step on the ``clock``. The default is one second. Traps if not
  ///   longer than 0.
  public init(step: Duration = .seconds(1)) {
    if step <= .zero { misuse("'Timeline' requires a step longer than 0, not \(step).") }
    self.step = step
  }

  /// Expects that the publisher emits the updates of the line.
  ///
  /// - Parameters:
  ///   - line: The expected updates and the end.
  ///   - values: The values of the letters.
  ///   - period: The subscription: `^` is the step that subscribes, and `!` is the step that cancels. The
  ///     default is the entire timeline.
  ///   - publisher: The publisher, which gets one subscription.
  public func expect<Update: Sendable & Equatable, Kind: PublisherKind>(
    _ line: String, _ values: [Character: Update], during period: String = "^",
    from publisher: Publisher<Update, Kind>
  ) {
    expectations.append(
      TimelineExpectation(line, values, period, publisher) { [clock, step] in
        Int(clock.now.offset.attoseconds / step.attoseconds)
      })
  }

  /// Expects that the publisher emits the letters of the line.
  ///
  /// - Parameters:
  ///   - line: The expected letters and the end.
  ///   - period: The subscription, as for `expect(_:_:during:from:)`.
  ///   - publisher: The publisher, which gets one subscription.
  public func expect<Kind: PublisherKind>(
    _ line: String, during period: String = "^", from publisher: Publisher<Character, Kind>
  ) {
    expect(line, letters(of: line), during: period, from: publisher)
  }

  /// Runs all steps of the longest line, and then cancels all subscriptions.
  ///
  /// Traps if called twice.
  ///
  /// - Returns: The difference between the expected and the received updates, or `nil` if they are equal.
  public func play() -> Difference? {
    if hasPlayed { misuse("A 'Timeline' was played twice. Create a second timeline.") }
    hasPlayed = true
    let lengths = inputs.map(\.steps.count) + expectations.map(\.length)
    for index in 0..<(lengths.max() ?? 0) {
      for expectation in expectations where expectation.end == index { expectation.leave() }
      if index > 0 { clock.advance(by: step) }
      for expectation in expectations where expectation.begin == index { expectation.enter() }
      for input in inputs where index < input.steps.count { input.update(index) }
      clock.advance(by: .zero)
    }
    for expectation in expectations { expectation.leave() }
    return Difference(inputs, expectations.map { $0.outcome() })
  }

  func add(_ input: TimelineInput) {
    inputs.append(input)
  }

  func letters(of line: String) -> [Character: Character] {
    let letters = Set(MarbleLine(line).steps.joined()).subtracting("|")
    return Dictionary(uniqueKeysWithValues: letters.map { ($0, $0) })
  }
}
