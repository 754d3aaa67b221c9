/// Something that has happened to a store.
///
/// Its description is one line of a log, which is made when it is asked for:
///
/// ```swift
/// let log = plain.events.subscribe { print("\($0)") }
/// ```
public enum StoreEvent<State: Sendable, Action: Sendable>: Sendable, CustomStringConvertible {
  /// The state was changed, or an action left it as it was.
  case committed(Commit<State, Action>)
  /// An effect runs from now on.
  case began(EffectRun)
  /// An effect that had begun is over.
  case ended(EffectRun, EffectEnd, after: Duration)

  /// What was committed; `nil` if this tells of an effect.
  public var commit: Commit<State, Action>? {
    if case .committed(let commit) = self { commit } else { nil }
  }

  /// The action that was committed; `nil` if there was none.
  ///
  /// `store.events.compactMap { $0.action }` are all actions, in order.
  public var action: Action? {
    if case .committed(let commit) = self, case .action(let action) = commit.cause {
      action
    } else {
      nil
    }
  }

  /// One line: the number of the commit, then what it was, or which effect did what.
  public var description: String {
    switch self {
    case .committed(let commit): "\(commit.number) \(commit.cause)"
    case .began(let run): "\(run.commit) \(run) began"
    case .ended(let run, let end, let duration): "\(run.commit) \(run) \(end) after \(duration)"
    }
  }
}

/// One change of a state.
public struct Commit<State: Sendable, Action: Sendable>: Sendable {
  /// Its place in the order of all changes, from 1.
  public let number: Int
  /// What has made it.
  public let cause: CommitCause<Action>
  /// The state as it was then.
  public let state: State

  @inlinable
  init(number: Int, cause: CommitCause<Action>, state: State) {
    self.number = number
    self.cause = cause
    self.state = state
  }
}

/// What has made a commit.
public enum CommitCause<Action: Sendable>: Sendable, CustomStringConvertible {
  /// An action that was sent.
  case action(Action)
  /// A change in place, and what it was called.
  case change(String?)
  /// A member that was written.
  case assignment(any AnyKeyPath & Sendable)
  /// A state that was there before.
  case restored
  /// A change that is told elsewhere: that of a whole, to its part. All commits of a part have it.
  case whole

  /// The action, or what stands for it.
  public var description: String {
    switch self {
    case .action(let action): "\(action)"
    case .change(let name): name ?? "change"
    case .assignment(let part): "\(part)"
    case .restored: "restored"
    case .whole: "whole"
    }
  }
}

/// An effect that runs.
public struct EffectRun: Hashable, Identifiable, Sendable, CustomStringConvertible {
  /// Its own number, from 1.
  public let number: Int
  /// The number of the commit whose action has asked for it.
  public let commit: Int
  let effectID: EffectID?

  /// What its id says of itself; `nil` without one.
  public var name: String? { effectID.map { "\($0.value)" } }

  /// The number.
  public var id: Int { number }

  /// The name, or else the number.
  public var description: String { name ?? "effect \(number)" }

  /// The number tells effects apart.
  public static func == (one: EffectRun, other: EffectRun) -> Bool { one.number == other.number }

  /// Hashes the number.
  public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

/// How an effect has ended.
public enum EffectEnd: Sendable, CustomStringConvertible {
  /// By itself.
  case finished
  /// By its id, its ``StoreTask`` or the end of its store.
  case cancelled
  /// By throwing.
  case failed(any Error)

  /// A word, and the error if there was one.
  public var description: String {
    switch self {
    case .finished: "finished"
    case .cancelled: "✖ cancelled"
    case .failed(let error): "✖ failed with \(error)"
    }
  }
}
