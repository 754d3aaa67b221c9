public import MiniRex

extension Store where State: Encodable {
  /// Tells what each commit has changed, by path.
  ///
  /// ```swift
  /// let subscription = store.diffs.subscribe { diff in
  ///   if let diff = try? diff.get() { print("\(diff)") }  // 1 todos/0/isDone: false → true
  /// }
  /// ```
  ///
  /// A commit that changes nothing that is encoded is not told. A state that cannot be encoded is told as
  /// a failure, and the next diff is since the last state that could be; if there was none, it has
  /// everything. After each commit the whole state is encoded, once for all subscribers and where the
  /// events are told; without a subscriber it never is. Those of a scope have the paths of the part.
  public var diffs: Broadcaster<Result<StateDiff, any Error>> {
    if let shared = diffWork.withLock({ $0 }) { return shared.publisher }
    let made = StoreDiffs(
      Broadcaster(watchedBy: lineage, as: "diffs", current: { nil }) { [backing] receive in
        let differ = SerialState(StateDiffer())
        let tell: @Sendable (Commit<State, Action>) -> Void = { commit in
          if let diff = differ.value.diff(commit.number, commit.state) { receive(diff) }
        }
        return switch backing {
        case .root(let storage): storage.follow(tell)
        case .part(let part): part.follow(tell)
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

/// What all subscribers of a store's diffs share.
final class StoreDiffs: Sendable {
  let publisher: Broadcaster<Result<StateDiff, any Error>>

  init(_ publisher: Broadcaster<Result<StateDiff, any Error>>) { self.publisher = publisher }
}

/// Remembers the last state that could be encoded.
struct StateDiffer {
  private var last: FlatState?
  private var isFirst = true

  /// `nil` for the state that is there before the first commit, and if nothing was changed.
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
