internal import MiniRex

/// What is thrown, or noted in a callback, when a rule is broken.
struct Broken: Error {
  let law: Law
  let words: String
}

/// What has happened in a trial: the picture, the first rule that was broken, and which calls of
/// what is under test have not returned.
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

    /// What is done opens a step, so that what follows stands under it or behind it.
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

  /// Too much happens from now on for a picture.
  func stopDrawing() {
    state.withLock { $0.isDrawing = false }
  }

  /// The first counts: what follows may be its consequence.
  func note(_ law: Law, _ words: String) {
    state.withLock { if $0.broken == nil { $0.broken = Broken(law: law, words: words) } }
  }

  var broken: Broken? { state.withLock { $0.broken } }

  func throwIfBroken() throws(Broken) {
    if let broken { throw broken }
  }

  /// Calls what may never return.
  ///
  /// - Parameters:
  ///   - law: Which rule is broken then.
  ///   - words: What is being done, as the subject of a sentence.
  func call<Result>(_ law: Law, _ words: String, _ body: () -> Result) -> Result {
    let id = state.withLock { state in
      state.lastID += 1
      state.calls.append(OpenCall(id: state.lastID, law: law, words: words, begin: .now))
      return state.lastID
    }
    defer { state.withLock { $0.calls.removeAll { $0.id == id } } }
    return body()
  }

  /// The last call that has been made and has not returned for so long: those before it may wait
  /// for it.
  func hanging(for limit: Duration) -> Broken? {
    state.withLock { state in
      state.calls.last { $0.begin.duration(to: .now) >= limit }.map {
        Broken(law: $0.law, words: "\($0.words) does not return.")
      }
    }
  }

  /// `nil` if there is too much of it.
  var picture: String? {
    let (isDrawing, rows) = state.withLock { ($0.isDrawing, $0.rows) }
    return isDrawing ? TimelineRow.picture(rows.map { TimelineRow($0.name, $0.steps) }) : nil
  }
}
