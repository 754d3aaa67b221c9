public import MiniRex

extension Store where State: Encodable {
  /// Emits the changes of each commit, by path.
  ///
  /// ```swift
  /// let subscription = store.diffs.subscribe { diff in
  ///   if let diff = try? diff.get() { print("\(diff)") }  // 1 todos/0/isDone: false → true
  /// }
  /// ```
  ///
  /// A commit that changes no encoded value is skipped. A state that fails to encode is emitted as
  /// a failure. The next diff is relative to the last state that was encoded, or contains every
  /// path if there is none. In a scope, the paths are relative to the child.
  ///
  /// Each commit encodes the entire state once for all subscribers, on the delivering thread.
  /// Without subscribers, nothing is encoded.
  public var diffs: Broadcaster<Result<StateDiff, any Error>> {
    if let shared = diffWork.withLock({ $0 }) { return shared.publisher }
    let made = StoreDiffs(
      Broadcaster(watchedBy: lineage, as: "diffs", value: .none) { [backing] receive in
        let differ = SerialState(StateDiffer())
        return backing.subscribeToCommits { commit in
          if let diff = differ.value.diff(commit.number, commit.state) { receive(diff) }
        }
      }
      .share())
    return diffWork.withLock { shared in
      let first = shared ?? made
      shared = first
      return first.publisher
    }
  }
}

/// The shared publisher of a store's diffs.
final class StoreDiffs: Sendable {
  let publisher: Broadcaster<Result<StateDiff, any Error>>

  init(_ publisher: Broadcaster<Result<StateDiff, any Error>>) { self.publisher = publisher }
}

extension Store where State: Encodable {
  /// Calls `state` with the current state, and then `diffs` with the changes of each later commit,
  /// without a gap.
  ///
  /// ```swift
  /// let subscription = store.subscribe { number, state in
  ///   print("\(number): \(state.todos.count)")
  /// } diffs: { diff in
  ///   if let diff = try? diff.get() { print("\(diff)") }
  /// }
  /// ```
  ///
  /// Both run serially and in order. `state` runs inside `subscribe`, or on the thread that delivers.
  /// The first diff is relative to that state, so a remote copy that starts with it stays complete.
  /// See ``diffs`` for the diffs. The subscription encodes each state separately, so for many clients
  /// subscribe once, and give each client the latest state and the following diffs.
  ///
  /// - Parameters:
  ///   - state: A closure with the number of the last commit, and the state after it. It runs once.
  ///   - diffs: A closure with the changes of a later commit, or the error of an encoding.
  public func subscribe(
    state: @escaping @Sendable (_ number: Int, State) -> Void,
    diffs: @escaping @Sendable (Result<StateDiff, any Error>) -> Void
  ) -> Subscription {
    let differ = SerialState((value: StateDiffer(), isFirst: true))
    let receive: @Sendable (Commit<State, Action>) -> Void = { commit in
      let isFirst = differ.value.isFirst
      differ.value.isFirst = false
      let diff = differ.value.value.diff(commit.number, commit.state)
      if isFirst { state(commit.number, commit.state) }
      if let diff { diffs(diff) }
    }
    return subscribeToCommits(receive)
  }
}

/// Compares each state with the last state that was encoded.
struct StateDiffer {
  private var last: FlatState?
  private var isFirst = true

  /// Returns `nil` for the initial state, and if nothing was changed.
  mutating func diff(_ number: Int, _ state: some Encodable) -> Result<StateDiff, any Error>? {
    defer { isFirst = false }
    do {
      let flat = try FlatState(state)
      defer { last = flat }
      if isFirst { return nil }
      let changes = flat.changes(since: last ?? FlatState())
      return changes.isEmpty ? nil : .success(StateDiff(commit: number, changes: changes))
    } catch {
      return isFirst ? nil : .failure(error)
    }
  }
}
