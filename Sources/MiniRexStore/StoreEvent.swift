/// An event of a store: a commit, or the start or the end of an effect.
///
/// The description is one line of a log, and is computed on demand:
///
/// ```swift
/// let log = plain.events.subscribe { print("\($0)") }
/// ```
public enum StoreEvent<State: Sendable, Action: Sendable>: Sendable, CustomStringConvertible {
  /// An action was reduced, or the state was changed in place.
  ///
  /// The state may be the same as before.
  case committed(Commit<State, Action>)
  /// An effect started.
  case began(EffectRun)
  /// A started effect ended.
  case ended(EffectRun, EffectEnd, after: Duration)

  /// The commit, or `nil` if this event is about an effect.
  public var commit: Commit<State, Action>? {
    if case .committed(let commit) = self { commit } else { nil }
  }

  /// The committed action, or `nil` if this event has none.
  ///
  /// `store.events.compactMap { $0.action }` emits all actions in order.
  public var action: Action? {
    if case .committed(let commit) = self, case .action(let action) = commit.cause {
      action
    } else {
      nil
    }
  }

  /// One line: the number of the commit, then its cause, or the effect and its change.
  public var description: String {
    switch self {
    case .committed(let commit): "\(commit.number) \(commit.cause)"
    case .began(let run): "\(run.commit) \(run) began"
    case .ended(let run, let end, let duration): "\(run.commit) \(run) \(end) after \(duration)"
    }
  }
}

/// One numbered change of a store's state.
public struct Commit<State: Sendable, Action: Sendable>: Sendable {
  /// The position in the order of all commits, starting at 1.
  public let number: Int
  /// The cause of the commit.
  public let cause: CommitCause<Action>
  /// The state after the commit.
  public let state: State

  @inlinable
  init(number: Int, cause: CommitCause<Action>, state: State) {
    self.number = number
    self.cause = cause
    self.state = state
  }
}

/// The cause of a commit.
public enum CommitCause<Action: Sendable>: Sendable, CustomStringConvertible {
  /// An action was sent.
  case action(Action)
  /// The state was changed in place, with an optional name.
  case change(String?)
  /// A member was written.
  case assignment(any AnyKeyPath & Sendable)
  /// A ``History`` restored an earlier state.
  case restored
  /// A log decided actions of a replica, and the state became the decided state plus the pending actions.
  case rebased(decided: Int, pending: Int)
  /// The parent state changed, seen from a child.
  ///
  /// Every commit of a scope has this cause.
  case parent

  /// The action, the name of the change, the key path of the written member, or a word for the other
  /// causes.
  public var description: String {
    switch self {
    case .action(let action): "\(action)"
    case .change(let name): name ?? "change"
    case .assignment(let child): "\(child)"
    case .restored: "restored"
    case .rebased(let decided, let pending): "rebased: \(decided) decided, \(pending) pending"
    case .parent: "parent"
    }
  }
}

/// One run of an effect.
public struct EffectRun: Hashable, Identifiable, Sendable, CustomStringConvertible {
  /// The number of the effect, starting at 1.
  public let number: Int
  /// The number of the commit whose action returned the effect.
  public let commit: Int
  let effectID: EffectID?

  /// The description of the effect's ID, or `nil` without an ID.
  public var name: String? { effectID.map { "\($0.value)" } }

  /// The number.
  public var id: Int { number }

  /// The name, or the number of an effect without an ID.
  public var description: String { name ?? "effect \(number)" }

  /// Returns `true` if both runs have the same number.
  public static func == (one: EffectRun, other: EffectRun) -> Bool { one.number == other.number }

  /// Hashes the number.
  public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

/// The reason why an effect ended.
public enum EffectEnd: Sendable, CustomStringConvertible {
  /// The effect returned, or its publisher finished.
  case finished
  /// The effect was canceled by its ID, by its ``StoreTask``, with its child, or with its store.
  case cancelled
  /// The effect threw an error.
  case failed(any Error)

  /// The end as a word, with the error if there is one.
  public var description: String {
    switch self {
    case .finished: "finished"
    case .cancelled: "✖ cancelled"
    case .failed(let error): "✖ failed with \(error)"
    }
  }
}

extension CommitCause {
  /// Unavailable; use ``parent``.
  @available(*, unavailable, renamed: "parent")
  public static var whole: CommitCause { .parent }
}
