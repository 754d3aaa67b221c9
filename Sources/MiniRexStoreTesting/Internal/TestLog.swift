import MiniRex
import MiniRexStore

/// An action and its origin: the test, or an effect or reducer.
enum TestAction<Action: Sendable>: Sendable {
  case sent(Action)
  case received(Action)
  /// Never reaches the reducer under test. Its delivery proves that all earlier commits are delivered.
  case mark(Int)

  var action: Action? {
    switch self {
    case .sent(let action), .received(let action): action
    case .mark: nil
    }
  }
}

/// The commits without an assertion, and the running effects.
final class TestLog<State: Sendable, Action: Sendable>: Sendable {
  struct Step: Sendable {
    let action: TestAction<Action>
    let number: Int
    let state: State
  }

  private struct Content {
    var steps: [Step] = []
    var running: [EffectRun] = []
    var lastMark = 0
    var lastNumber = 0
    var waiting: [Parking] = []
  }

  private let content = Lock(Content())
  /// The number of delivered events.
  let count = PublishedProperty(0)

  func add(_ event: StoreEvent<State, TestAction<Action>>) {
    let woken = content.withLock { content in
      switch event {
      case .began(let run): content.running.append(run)
      case .ended(let run, _, _): content.running.removeAll { $0 == run }
      case .committed(let commit):
        content.lastNumber = max(content.lastNumber, commit.number)
        guard case .action(let action) = commit.cause else { break }
        if case .mark(let id) = action {
          content.lastMark = max(content.lastMark, id)
        } else {
          content.steps.append(Step(action: action, number: commit.number, state: commit.state))
        }
      }
      defer { content.waiting = [] }
      return content.waiting
    }
    for parking in woken { parking.open() }
    count.modify { $0 += 1 }
  }

  var running: [EffectRun] { content.withLock { $0.running } }

  var first: Step? { content.withLock { $0.steps.first } }

  var received: [Action] { content.withLock { $0.steps.compactMap(\.action.action) } }

  func removeFirst() {
    content.withLock { content in
      if !content.steps.isEmpty { content.steps.removeFirst() }
    }
  }

  /// Removes the received actions before the first sent action.
  func removeReceived() {
    content.withLock { content in
      let sent = content.steps.firstIndex { if case .sent = $0.action { true } else { false } }
      content.steps.removeFirst(sent ?? 0)
    }
  }

  func removeAll() -> State? {
    content.withLock { content in
      defer { content.steps = [] }
      return content.steps.last?.state
    }
  }

  /// The last action of a chain.
  func last(upTo number: Int) -> Step? {
    content.withLock { content in content.steps.last { $0.number <= number } }
  }

  /// Returns after the commit is delivered, on any thread.
  func waitForCommit(_ number: Int) {
    wait { $0.lastNumber >= number }
  }

  func waitForMark(_ id: Int) {
    wait { $0.lastMark >= id }
  }

  private func wait(_ isDelivered: (Content) -> Bool) {
    while true {
      let parking: Parking? = content.withLock { content in
        if isDelivered(content) { return nil }
        let parking = Parking()
        content.waiting.append(parking)
        return parking
      }
      guard let parking else { return }
      parking.wait()
    }
  }
}
