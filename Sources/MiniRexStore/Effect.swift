public import MiniRex

/// Work that a reducer returns.
///
/// ```swift
/// return .run { send in send(.found(try await find(query))) }
///   .cancellable(id: "search", cancelInFlight: true)
/// ```
///
/// An effect starts after its commit is readable and published. It does not retain the store.
/// Releasing the store cancels its effects.
public struct Effect<Action: Sendable>: Sendable {
  @usableFromInline let kind: EffectKind<Action>

  @inlinable @inline(__always)
  init(_ kind: EffectKind<Action>) {
    self.kind = kind
  }

  @inlinable
  init(_ work: EffectWork<Action>) {
    kind = .work(work)
  }

  /// An effect that does nothing.
  @inlinable
  public static var none: Effect { Effect(EffectKind.none) }

  /// Creates an effect that sends another action, which is reduced before any action of another
  /// thread.
  @inlinable
  public static func send(_ action: Action) -> Effect {
    Effect(EffectKind.send(action))
  }

  /// Creates an effect that runs an async function in a Swift task.
  ///
  /// The task inherits the sender's task-local values and priority. A thrown error appears in
  /// ``Store/events`` and fails the ``StoreTask``. To show a failure in the state, send it in an
  /// action.
  ///
  /// Canceling the effect cancels its Swift task. Actions that `work` sends after a cancellation,
  /// or after it has returned, are dropped.
  @inlinable
  public static func run(
    _ work: @escaping @Sendable (_ send: @escaping @Sendable (Action) -> Void) async throws -> Void
  ) -> Effect {
    Effect(.run(work))
  }

  /// Creates an effect that sends the actions that a publisher emits, until the publisher finishes.
  ///
  /// The store calls `actions` when the effect starts, and subscribes synchronously.
  @inlinable
  public static func publisher<Kind: PublisherKind>(
    _ actions: @escaping @Sendable () -> Publisher<Action, Kind>
  ) -> Effect {
    Effect(
      .publisher { commit, receive, onEnd in
        actions().subscribe(asEffectOf: commit, receive, onEnd: onEnd)
      })
  }

  /// Creates an effect that runs several effects concurrently.
  @inlinable
  public static func merge(_ effects: Effect...) -> Effect { merge(effects) }

  /// Creates an effect that runs several effects concurrently.
  @inlinable
  public static func merge(_ effects: [Effect]) -> Effect {
    Effect(.merge(EffectList(effects)))
  }

  /// Creates an effect that runs several effects one after another.
  ///
  /// The commit that returns them registers all of them. ``cancel(id:)`` and the removal of the child
  /// therefore also cancel an effect that still waits. A waiting ``cancel(id:)`` or `cancelInFlight`
  /// cancels effects when it starts, and spares the effects of later sends.
  ///
  /// If an effect fails or is canceled, the remaining effects do not run.
  @inlinable
  public static func concatenate(_ effects: Effect...) -> Effect { concatenate(effects) }

  /// Creates an effect that runs several effects one after another.
  ///
  /// If an effect fails or is canceled, the remaining effects do not run.
  @inlinable
  public static func concatenate(_ effects: [Effect]) -> Effect {
    Effect(.concatenate(EffectList(effects)))
  }

  /// Creates an effect that cancels all effects with the given ID, if any.
  @inlinable
  public static func cancel(id: some Hashable & Sendable) -> Effect {
    Effect(.cancel(EffectID(id)))
  }

  /// Gives the effect an ID, which also names it in a log.
  ///
  /// Two IDs are equal if their types and their values are equal. An effect can have several IDs.
  ///
  /// - Parameters:
  ///   - id: The ID for ``cancel(id:)``.
  ///   - cancelInFlight: A Boolean value that indicates whether this effect cancels earlier effects
  ///     with the same ID when it starts. The default is `false`.
  @inlinable
  public func cancellable(
    id: some Hashable & Sendable, cancelInFlight: Bool = false
  ) -> Effect {
    // `.none` can still cancel the effects in flight.
    if case .none = kind { return cancelInFlight ? .cancel(id: id) : self }
    return Effect(.cancellable(self, EffectID(id), cancelInFlight: cancelInFlight))
  }

  /// Returns the effect with its actions wrapped in actions of the parent.
  @inlinable
  public func map<Other: Sendable>(
    _ embed: @escaping @Sendable (Action) -> Other
  ) -> Effect<Other> {
    switch kind {
    case .none: .none
    case .send(let action): .send(embed(action))
    case .work(let work): work.map(embed)
    }
  }
}

/// The kind of an effect.
///
/// Only `work` is allocated.
@usableFromInline
enum EffectKind<Action: Sendable>: Sendable {
  case none
  case send(Action)
  case work(EffectWork<Action>)
}

@usableFromInline
enum EffectWork<Action: Sendable>: Sendable {
  @usableFromInline typealias Send = @Sendable (Action) -> Void
  @usableFromInline typealias Run = @Sendable (@escaping Send) async throws -> Void
  @usableFromInline typealias Subscribe =
    @Sendable (
      _ commit: Int, _ receive: @escaping Send, _ onEnd: @escaping @Sendable () -> Void
    ) -> Subscription

  indirect case run(Run)
  indirect case publisher(Subscribe)
  case merge(EffectList<Action>)
  case concatenate(EffectList<Action>)
  case cancel(EffectID)
  indirect case cancellable(Effect<Action>, EffectID, cancelInFlight: Bool)
  /// An effect of a child, with the step from the parent to the child.
  indirect case child(any ScopeStep, Effect<Action>)

  @inlinable
  func map<Other: Sendable>(_ embed: @escaping @Sendable (Action) -> Other) -> Effect<Other> {
    switch self {
    case .run(let work): .run { send in try await work { send(embed($0)) } }
    case .publisher(let subscribe):
      Effect<Other>(
        .publisher { commit, receive, onEnd in
          subscribe(commit, { receive(embed($0)) }, onEnd)
        })
    case .merge(let effects): Effect<Other>(.merge(effects.map(embed)))
    case .concatenate(let effects): Effect<Other>(.concatenate(effects.map(embed)))
    case .cancel(let id): Effect<Other>(.cancel(id))
    case .cancellable(let effect, let id, let cancelInFlight):
      Effect<Other>(.cancellable(effect.map(embed), id, cancelInFlight: cancelInFlight))
    case .child(let step, let effect): Effect<Other>(.child(step, effect.map(embed)))
    }
  }
}
