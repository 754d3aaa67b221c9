internal import MiniRex
public import MiniRexStore

/// A store of which nothing may happen that the test does not say.
///
/// ```swift
/// try await withTestStore(Search(), reducer: searching { [$0.uppercased()] }) { store in
///   try store.send(.queryChanged("rex")) { $0.query = "rex" }
///   try await store.receive(.found(["REX"])) { $0.results = ["REX"] }
/// }
/// ```
///
/// It drives a real `Store`. Each action, those that effects and reducers send too, has to be
/// asserted in its order, with what it does to the state. ``withTestStore(_:within:reducer:_:)`` is
/// the only way to have one, so that nothing is forgotten.
public final class TestStore<State: Sendable & Equatable, Action: Sendable>: Sendable {
  private let store: Store<State, TestAction<Action>>
  private let log = TestLog<State, Action>()
  private let logging: Subscription
  private let patience: Duration
  private let script: Lock<Script>

  private struct Script {
    var state: State
    var lastID = 0
    var tasks: [StoreTask] = []
  }

  init(_ state: State, within patience: Duration, reducer: @escaping Reducer<State, Action>) {
    store = Store(state) { (state: inout State, action: TestAction<Action>) in
      action.action.map { reducer(&state, $0).map { .received($0) } } ?? .none
    }
    self.patience = patience
    script = Lock(Script(state: state))
    logging = store.events.subscribe { [log] in log.add($0) }
  }

  /// The state after the last action that was asserted.
  public var state: State { script.withLock { $0.state } }

  /// Sends an action, and asserts what it does to the state.
  ///
  /// - Parameters:
  ///   - action: The action.
  ///   - fileID: Where it is written, for the failure.
  ///   - line: Where it is written, for the failure.
  ///   - expected: Makes the state before into the one after; left out if nothing changes.
  /// - Returns: What it has started.
  /// - Throws: A ``TestStoreFailure`` if the state is another one afterwards, or an action was received
  ///   that is not asserted yet.
  @discardableResult
  public func send(
    _ action: Action, fileID: String = #fileID, line: Int = #line,
    _ expected: (inout State) throws -> Void = { _ in }
  ) throws -> StoreTask {
    let place = "\(fileID):\(line)"
    try checkNothingIsReceived(before: "sending \(action)", place)
    let id = nextID()
    let task = store.send(.sent(id, action))
    script.withLock { $0.tasks.append(task) }
    log.waitForSent(id)
    guard let step = log.first, case .sent = step.action else {
      try checkNothingIsReceived(before: "sending \(action)", place)
      return task
    }
    log.removeFirst()
    try check(step, "sending \(action)", place, expected)
    return task
  }

  /// Waits for the next action that an effect or a reducer sends, and asserts what it does.
  ///
  /// - Parameters:
  ///   - isExpected: Whether it is the one.
  ///   - fileID: Where it is written, for the failure.
  ///   - line: Where it is written, for the failure.
  ///   - expected: Makes the state before into the one after; left out if nothing changes.
  /// - Returns: The action.
  /// - Throws: A ``TestStoreFailure`` if it is another one, does something else, or does not come: at
  ///   once if no effect runs that could send it.
  @discardableResult
  nonisolated(nonsending) public func receive(
    where isExpected: (Action) -> Bool, fileID: String = #fileID, line: Int = #line,
    _ expected: (inout State) throws -> Void = { _ in }
  ) async throws -> Action {
    let place = "\(fileID):\(line)"
    let step = try await nextStep(place)
    log.removeFirst()
    guard let action = step.action.action else { throw failure("A mark was received.", place) }
    guard isExpected(action) else {
      throw failure("Another action was received than expected: \(action).", place)
    }
    try check(step, "receiving \(action)", place, expected)
    return action
  }

  /// Forgets what was received and not asserted; the state is then the one after it.
  public func skipReceived() {
    mark()
    if let state = log.removeAll() { script.withLock { $0.state = state } }
  }

  /// Cancels all effects.
  public func cancelEffects() {
    for task in script.withLock({ $0.tasks }) { task.cancel() }
  }
}

extension TestStore where Action: Equatable {
  /// Waits for an action that an effect or a reducer sends, and asserts what it does.
  ///
  /// - Parameters:
  ///   - action: The one that has to be next.
  ///   - fileID: Where it is written, for the failure.
  ///   - line: Where it is written, for the failure.
  ///   - expected: Makes the state before into the one after; left out if nothing changes.
  /// - Throws: A ``TestStoreFailure`` if it is another one, does something else, or does not come: at
  ///   once if no effect runs that could send it.
  nonisolated(nonsending) public func receive(
    _ action: Action, fileID: String = #fileID, line: Int = #line,
    _ expected: (inout State) throws -> Void = { _ in }
  ) async throws {
    let place = "\(fileID):\(line)"
    let step = try await nextStep(place)
    log.removeFirst()
    guard step.action.action == action else {
      let received = step.action.action.map { "\($0)" } ?? "nothing"
      throw failure("\(received) was received, expected \(action).", place)
    }
    try check(step, "receiving \(action)", place, expected)
  }
}

extension TestStore {
  /// When the body has returned.
  nonisolated(nonsending) func finish() async throws {
    let place = "the end of the test"
    let deadline = ContinuousClock.now + patience
    while true {
      let seen = log.count.value
      try checkNothingIsReceived(before: place, place)
      if store.effectCount == 0 { break }
      guard await hears(after: seen, until: deadline) else {
        throw failure("An effect has not ended within \(patience).", place)
      }
    }
    mark()
    try checkNothingIsReceived(before: place, place)
    for task in script.withLock({ $0.tasks }) {
      // The store counts an effect no more a moment before its failure is known.
      _ = await task.publisher.result
      if let error = task.unseenFailure {
        throw failure(
          "An effect has failed with \(error), and no 'finished()' has thrown it.", place)
      }
    }
  }

  nonisolated(nonsending) private func nextStep(_ place: String) async throws
    -> TestLog<State, Action>.Step
  {
    let deadline = ContinuousClock.now + patience
    while true {
      let seen = log.count.value
      if let step = log.first { return step }
      if store.effectCount == 0 {
        mark()
        if log.first == nil {
          throw failure("No action was received, and no effect runs that could send one.", place)
        }
      } else if !(await hears(after: seen, until: deadline)) {
        throw failure("No action was received within \(patience).", place)
      }
    }
  }

  /// False if nothing was told in time, or the test is cancelled.
  nonisolated(nonsending) private func hears(
    after seen: Int, until deadline: ContinuousClock.Instant
  ) async -> Bool {
    let next = log.count.publisher.first(where: { $0 != seen })
      .timeout(after: deadline - .now, clock: ContinuousClock())
    if case .success? = await next.result { return true }
    return false
  }

  private func nextID() -> Int {
    script.withLock { script in
      script.lastID += 1
      return script.lastID
    }
  }

  /// Returns when all that was committed before the call is told.
  private func mark() {
    let id = nextID()
    store.send(.mark(id))
    log.waitForMark(id)
  }

  private func checkNothingIsReceived(before what: String, _ place: String) throws {
    let received = log.received
    if received.isEmpty { return }
    throw failure(
      "Received, and not asserted before \(what): "
        + received.map { "\($0)" }.joined(separator: ", "),
      place)
  }

  private func check(
    _ step: TestLog<State, Action>.Step, _ what: String, _ place: String,
    _ expected: (inout State) throws -> Void
  ) throws {
    var state = self.state
    try expected(&state)
    script.withLock { $0.state = step.state }
    if state == step.state { return }
    let lines = StateComparison(of: step.state, expected: state).lines
    throw failure(
      "The state after \(what) is another one:\n" + lines.map { "  \($0)" }.joined(separator: "\n"),
      place)
  }

  private func failure(_ text: String, _ place: String) -> TestStoreFailure {
    let names = log.running.map { "\($0)" }
    let running = names.isEmpty ? "" : "\nEffects that run: \(names.joined(separator: ", "))"
    return TestStoreFailure(description: "\(place): \(text)\(running)")
  }
}
