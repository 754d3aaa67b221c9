internal import MiniRex

/// A broken rule.
struct Broken: Error {
  let law: Law
  let words: String
}

/// The picture of a trial, the first broken rule, and the calls that have not returned.
final class TrialLog: Sendable {
  private struct Row {
    let name: String
    var steps: [[Character]] = []
  }

  private struct OpenCall {
    let id: Int
    let law: Law
    let words: String
    let begin: ContinuousClock.Instant
  }

  private struct State {
    var rows = [Row(name: "sent")]
    var step = 0
    var isDrawing = true
    var broken: Broken?
    var calls: [OpenCall] = []
    var lastID = 0

    /// Starts a step with an operation, so that its consequences are in the same or a later column.
    mutating func open(_ row: Int, _ letter: Character) {
      let isTaken = rows.contains { row in
        row.steps.indices.contains(step) && row.steps[step].contains { $0 != "^" || letter != "^" }
      }
      if isTaken { step += 1 }
      draw(row, letter)
    }

    mutating func draw(_ row: Int, _ letter: Character) {
      if !isDrawing { return }
      while rows[row].steps.count <= step { rows[row].steps.append([]) }
      rows[row].steps[step].append(letter)
    }
  }

  private let state = Lock(State())

  func addRow(_ name: String) -> Int {
    state.withLock { state in
      state.rows.append(Row(name: name))
      return state.rows.count - 1
    }
  }

  func open(_ letter: Character, in row: Int = 0) {
    state.withLock { $0.open(row, letter) }
  }

  func draw(_ letter: Character, in row: Int) {
    state.withLock { $0.draw(row, letter) }
  }

  /// Discards the picture, because too many events follow.
  func stopDrawing() {
    state.withLock { $0.isDrawing = false }
  }

  /// Stores the first broken rule, which may cause the later ones.
  func note(_ law: Law, _ words: String) {
    state.withLock { if $0.broken == nil { $0.broken = Broken(law: law, words: words) } }
  }

  var broken: Broken? { state.withLock { $0.broken } }

  func throwIfBroken() throws(Broken) {
    if let broken { throw broken }
  }

  /// Runs a call that may never return.
  ///
  /// - Parameters:
  ///   - law: The rule that a call without a return breaks.
  ///   - words: The call, as the subject of a sentence.
  func call<Result>(_ law: Law, _ words: String, _ body: () -> Result) -> Result {
    let id = state.withLock { state in
      state.lastID += 1
      state.calls.append(OpenCall(id: state.lastID, law: law, words: words, begin: .now))
      return state.lastID
    }
    defer { state.withLock { $0.calls.removeAll { $0.id == id } } }
    return body()
  }

  /// Returns the last call that has run for `limit`, because earlier calls may wait for it.
  func hanging(for limit: Duration) -> Broken? {
    state.withLock { state in
      state.calls.last { $0.begin.duration(to: .now) >= limit }.map {
        Broken(law: $0.law, words: "\($0.words) does not return.")
      }
    }
  }

  /// The picture, or `nil` if it was discarded.
  var picture: String? {
    let (isDrawing, rows) = state.withLock { ($0.isDrawing, $0.rows) }
    return isDrawing ? TimelineRow.picture(rows.map { TimelineRow($0.name, $0.steps) }) : nil
  }
}
