internal import MiniRex
public import MiniRexStore

/// A store that fails the test on any unasserted action, state change, or effect.
///
/// ```swift
/// try await withTestStore(Search(), reducer: searching { [$0.uppercased()] }) { store in
///   try store.send(.queryChanged("rex")) { $0.query = "rex" }
///   try await store.receive(.found(["REX"])) { $0.results = ["REX"] }
/// }
/// ```
///
/// A `TestStore` drives a real `Store`. Assert each action in order, with its change of the state. This covers
/// the actions that effects and reducers send. ``withTestStore(_:within:exhaustivity:onFailure:fileID:filePath:line:column:reducer:_:)``
/// creates the store and checks it at the end.
///
/// A failure lists the differences between the state and the expected state. In a list, it names the added,
/// removed, moved, and changed rows, by id if the rows are `Identifiable`. NaN equals NaN.
public final class TestStore<State: Sendable & Equatable, Action: Sendable>: Sendable {
  let store: Store<State, TestAction<Action>>
  private let log = TestLog<State, Action>()
  private let subscription: Subscription
  private let limit: Duration
  private let exhaustivity: TestStoreExhaustivity
  private let failures: FailureLog
  private let script: Lock<Script>

  private struct Script {
    var state: State
    var lastID = 0
    var tasks: [StoreTask] = []
    var working: [Subscription] = []
  }

  init(
    _ state: State, within limit: Duration, exhaustivity: TestStoreExhaustivity,
    failures: FailureLog, reducer: @escaping Reducer<State, Action>
  ) {
    store = Store(state) { (state: inout State, action: TestAction<Action>) in
      action.action.map { reducer(&state, $0).map { .received($0) } } ?? .none
    }
    self.limit = limit
    self.exhaustivity = exhaustivity
    self.failures = failures
    script = Lock(Script(state: state))
    subscription = store.events.subscribe { [log] in log.add($0) }
  }

  /// The state after the last asserted action.
  public var state: State { script.withLock { $0.state } }

  /// Sends an action, and asserts its change of the state.
  ///
  /// Actions that reducers send are reduced in the same call, as in a `Store`. Assert each of them with
  /// ``receive(_:fileID:filePath:line:column:_:)``. Without exhaustivity, the assertion sees the state after
  /// all of them. Returns after their commits are delivered, even if another thread delivers them. The
  /// failure is also recorded if you catch it.
  ///
  /// - Parameters:
  ///   - action: The action.
  ///   - fileID: The module and file name for a failure. The default is the place of the call.
  ///   - filePath: The path of the file for a failure.
  ///   - line: The line for a failure.
  ///   - column: The column for a failure.
  ///   - expected: Turns the state before the action into the expected state after it. The default expects
  ///     no change.
  /// - Returns: The effects that the action started.
  /// - Throws: A ``TestStoreFailure`` if the state differs from the expected state, or if a received action
  ///   has no assertion yet. An error of `expected`.
  @discardableResult
  public func send(
    _ action: Action, fileID: String = #fileID, filePath: StaticString = #filePath,
    line: Int = #line, column: Int = #column,
    _ expected: (inout State) throws -> Void = { _ in }
  ) throws -> StoreTask {
    let place = CallPlace(fileID: fileID, filePath: filePath, line: line, column: column)
    let text = "sending \(ValueText(action).text)"
    if exhaustivity == .off { skipReceived() }
    try checkNothingIsReceived(before: text, place)
    let task = store.send(.sent(action))
    script.withLock { $0.tasks.append(task) }
    // The chain has other commits if the reducer sends actions.
    let last = task.number ?? 0
    log.waitForCommit(last)
    if exhaustivity == .off { log.removeReceived() }
    guard let step = log.first, case .sent = step.action else {
      try checkNothingIsReceived(before: text, place)
      return task
    }
    let end = exhaustivity == .off ? log.last(upTo: last) ?? step : step
    log.removeFirst()
    try check(end, text, place, expected)
    return task
  }

  /// Waits for the next action of an effect or a reducer, and asserts its change of the state.
  ///
  /// - Parameters:
  ///   - isExpected: Returns `true` for the expected action.
  ///   - fileID: The file of a failure. The default is the place of the call.
  ///   - filePath: The path of that file.
  ///   - line: The line in that file.
  ///   - column: The column in that line.
  ///   - expected: Changes the previous state to the expected state.
  /// - Returns: The action.
  /// - Throws: A ``TestStoreFailure`` if the action or the state differs from the expectation, or if no
  ///   action arrives: immediately if no running effect could send one. An error of `expected`.
  @discardableResult
  nonisolated(nonsending) public func receive(
    where isExpected: (Action) -> Bool, fileID: String = #fileID,
    filePath: StaticString = #filePath, line: Int = #line, column: Int = #column,
    _ expected: (inout State) throws -> Void = { _ in }
  ) async throws -> Action {
    let place = CallPlace(fileID: fileID, filePath: filePath, line: line, column: column)
    let (step, action) = try await nextStep(place, where: isExpected)
    let text = ValueText(action).text
    guard isExpected(action) else {
      throw failure("The received action does not satisfy the condition: \(text)", place)
    }
    try check(step, "receiving \(text)", place, expected)
    return action
  }

  /// Discards the received actions without an assertion.
  ///
  /// ``state`` is then the state after them.
  public func skipReceived() {
    mark()
    if let state = log.removeAll() { script.withLock { $0.state = state } }
  }

  /// Retains a subscription until the end of the test.
  func retain(_ working: Subscription) { script.withLock { $0.working.append(working) } }

  /// Cancels all effects.
  public func cancelEffects() {
    for task in script.withLock({ $0.tasks }) { task.cancel() }
  }
}

extension TestStore where Action: Equatable {
  /// Waits for the next action of an effect or a reducer, and asserts its change of the state.
  ///
  /// - Parameters:
  ///   - action: The expected action.
  ///   - fileID: The file of a failure. The default is the place of the call.
  ///   - filePath: The path of that file.
  ///   - line: The line in that file.
  ///   - column: The column in that line.
  ///   - expected: Changes the previous state to the expected state.
  /// - Throws: A ``TestStoreFailure`` if the action or the state differs from the expectation, or if no
  ///   action arrives: immediately if no running effect could send one. An error of `expected`.
  nonisolated(nonsending) public func receive(
    _ action: Action, fileID: String = #fileID, filePath: StaticString = #filePath,
    line: Int = #line, column: Int = #column,
    _ expected: (inout State) throws -> Void = { _ in }
  ) async throws {
    let place = CallPlace(fileID: fileID, filePath: filePath, line: line, column: column)
    let (step, received) = try await nextStep(place) { $0 == action }
    let differences =
      received == action
      ? [] : StateComparison(of: received, expected: action, name: "the action").lines
    if !differences.isEmpty {
      throw failure("Another action was received:" + indented(differences), place)
    }
    try check(step, "receiving \(ValueText(action).text)", place, expected)
  }
}

extension TestStore {
  /// Checks the remaining actions and effects, unless an assertion has failed.
  nonisolated(nonsending) func finish(at place: CallPlace) async throws {
    failures.addCaught()
    if !failures.isEmpty { return }
    if exhaustivity == .off { return cancelEffects() }
    let end = "the end of the test"
    let deadline = ContinuousClock.now + limit
    while true {
      let seen = log.count.value
      try checkNothingIsReceived(before: end, place)
      if store.effectCount == 0, !store.hasRunningJobs { break }
      // A canceled job returns without an event.
      let next = store.hasRunningJobs ? min(deadline, .now + .milliseconds(20)) : deadline
      if await changes(after: seen, until: next) || .now < deadline { continue }
      do {
        let kind = store.effectCount == 0 ? "A job" : "An effect"
        throw failure("\(kind) did not end within \(limit).", place)
      }
    }
    mark()
    try checkNothingIsReceived(before: end, place)
    for task in script.withLock({ $0.tasks }) {
      // The store stops counting an effect shortly before the error of the effect is available.
      _ = await task.publisher.result
      if let error = task.unseenFailure {
        throw failure("An effect failed with \(error). No 'finished()' threw the error.", place)
      }
    }
  }

  /// Waits for the next received action, and removes its step from the log.
  ///
  /// - Parameter isExpected: Returns `true` for the expected action. Without exhaustivity, other actions are skipped,
  ///   and the script has the state after them.
  nonisolated(nonsending) private func nextStep(
    _ place: CallPlace, where isExpected: (Action) -> Bool
  ) async throws -> (TestLog<State, Action>.Step, Action) {
    let deadline = ContinuousClock.now + limit
    while true {
      let seen = log.count.value
      if let step = log.first, let action = step.action.action {
        log.removeFirst()
        if exhaustivity == .on || isExpected(action) { return (step, action) }
        script.withLock { $0.state = step.state }
        continue
      }
      if store.effectCount == 0, !store.hasBusyJobs {
        mark()
        if log.first == nil {
          throw failure("No action was received. No running effect could send one.", place)
        }
      } else if !(await changes(after: seen, until: deadline)) {
        throw failure(
          "No action was received within \(limit). If an effect or a job waits for a clock, advance the clock: "
            + "'await clock.advance(by: …, sleepers: 1)' first waits until the effect sleeps.",
          place)
      }
    }
  }

  /// Returns `false` if no event arrives in time, or if the test is canceled.
  nonisolated(nonsending) private func changes(
    after seen: Int, until deadline: ContinuousClock.Instant
  ) async -> Bool {
    let next = log.count.publisher.first(where: { $0 != seen })
      .timeout(after: max(.zero, deadline - .now), clock: ContinuousClock())
    if case .success? = await next.result { return true }
    return false
  }

  private func nextID() -> Int {
    script.withLock { script in
      script.lastID += 1
      return script.lastID
    }
  }

  /// Returns after all earlier commits are delivered.
  private func mark() {
    let id = nextID()
    store.send(.mark(id))
    log.waitForMark(id)
  }

  private func checkNothingIsReceived(before text: String, _ place: CallPlace) throws {
    if exhaustivity == .off { return }
    let received = log.received
    if received.isEmpty { return }
    let rest = received.count - 10
    let actions =
      received.prefix(10).map { ValueText($0).text } + (rest > 0 ? ["\(rest) more"] : [])
    throw failure(
      "Received and not asserted before \(text): \(actions.joined(separator: ", "))", place)
  }

  private func check(
    _ step: TestLog<State, Action>.Step, _ text: String, _ place: CallPlace,
    _ expected: (inout State) throws -> Void
  ) throws {
    var state = exhaustivity == .on ? self.state : step.state
    script.withLock { $0.state = step.state }
    do {
      try expected(&state)
    } catch {
      failures.addUnthrown(
        TestStoreFailure("The expectation of \(text) threw \(error).", at: place))
      throw error
    }
    if state == step.state { return }
    let differences = StateComparison(of: step.state, expected: state, name: "the state").lines
    if differences.isEmpty { return }
    throw failure(
      "The state after \(text) differs from the expected state:" + indented(differences), place)
  }

  private func indented(_ lines: [String]) -> String { lines.map { "\n  \($0)" }.joined() }

  private func failure(_ text: String, _ place: CallPlace) -> TestStoreFailure {
    let running = log.running
    let rest = running.count - 10
    let names = running.prefix(10).map { "\($0)" } + (rest > 0 ? ["\(rest) more"] : [])
    let effects = names.isEmpty ? "" : "\nRunning effects: \(names.joined(separator: ", "))"
    let failure = TestStoreFailure(text + effects, at: place)
    failures.add(failure)
    return failure
  }
}
