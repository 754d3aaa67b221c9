public import MiniRex

/// Plays what publishers are sent, step by step, and compares what comes out of them.
///
/// ```swift
/// let timeline = Timeline()
/// let left = timeline.broadcaster(" a-b---|")
/// let right = timeline.broadcaster("--c-d|")
/// timeline.expect("                 a-(bc)-d-|", from: merge(left, right))
/// #expect(timeline.play() == nil)
/// ```
///
/// A line has one character for each step of time: `-` is a step in which nothing happens, a letter
/// an update, `(ab)` several in one step, `|` the end. Any other character counts as a letter, and
/// takes its value from a table; without a table it is its own value. Spaces take no time: they are
/// there to line lines up.
///
/// In each step subscriptions end first; then comes what is due on the ``clock``, then
/// subscriptions begin, then inputs update, all in the order in which they were written. The
/// timeline lasts as long as its longest line: write a few `-` to see that nothing else comes.
///
/// A line that makes no sense stops the program with advice, because it stands in the source of the
/// test; to throw would put a `try` before each line, for an error that no test waits for.
public final class Timeline {
  /// The time of the timeline, for operators that take a clock.
  public let clock = ManualClock()

  private let step: Duration
  private var inputs: [TimelineInput] = []
  private var expectations: [TimelineExpectation] = []
  private var hasPlayed = false

  /// Makes a timeline without lines.
  ///
  /// - Parameter step: How much later on the ``clock`` each step is than the one before it. One
  ///   that is not longer than 0 stops the program.
  public init(step: Duration = .seconds(1)) {
    if step <= .zero { misuse("'Timeline' takes a step longer than 0, not \(step).") }
    self.step = step
  }

  /// Expects that the publisher calls as the line says.
  ///
  /// - Parameters:
  ///   - line: When it updates and ends.
  ///   - values: What the letters stand for.
  ///   - period: When it is subscribed to: from the step of `^` on, and no longer in the step of
  ///     `!` if there is one.
  ///   - publisher: What is subscribed to, once.
  public func expect<Update: Sendable & Equatable, Kind: PublisherKind>(
    _ line: String, _ values: [Character: Update], during period: String = "^",
    from publisher: Publisher<Update, Kind>
  ) {
    expectations.append(
      TimelineExpectation(line, values, period, publisher) { [clock, step] in
        Int(clock.now.offset.attoseconds / step.attoseconds)
      })
  }

  /// Expects that the publisher calls with the letters of the line.
  ///
  /// - Parameters:
  ///   - line: When it updates and ends.
  ///   - period: When it is subscribed to, as for `expect(_:_:during:from:)`.
  ///   - publisher: What is subscribed to, once.
  public func expect<Kind: PublisherKind>(
    _ line: String, during period: String = "^", from publisher: Publisher<Character, Kind>
  ) {
    expect(line, letters(of: line), during: period, from: publisher)
  }

  /// Plays all lines to the end of the longest, and ends all subscriptions then.
  ///
  /// A timeline can be played once; a second time stops the program.
  ///
  /// - Returns: What came instead of what was expected; `nil` if it is the same.
  public func play() -> Difference? {
    if hasPlayed { misuse("A 'Timeline' was played twice. Make a new one.") }
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
