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
      Broadcaster(watchedBy: lineage, as: "diffs", current: { nil }) { [backing] receive in
        let differ = SerialState(StateDiffer())
        let publish: @Sendable (Commit<State, Action>) -> Void = { commit in
          if let diff = differ.value.diff(commit.number, commit.state) { receive(diff) }
        }
        return switch backing {
        case .root(let storage): storage.subscribeToCommits(publish)
        case .part(let part): part.subscribeToCommits(publish)
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
