public import MiniRex

/// What an action has done besides changing the state.
///
/// ```swift
/// return .run { send in send(.found(try await find(query))) }
///   .cancellable(id: "search", cancelInFlight: true)
/// ```
///
/// A reducer returns it; it begins when the state that the reducer has made can be read and is told.
/// It does not keep the store alive, and is cancelled when the store goes.
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

  /// Nothing.
  @inlinable
  public static var none: Effect { Effect(EffectKind.none) }

  /// Another action, which is reduced next, before any that another thread sends.
  @inlinable
  public static func send(_ action: Action) -> Effect {
    Effect(EffectKind.send(action))
  }

  /// An async function, in a Swift task that has the sender's task-local values and priority.
  ///
  /// What it throws is told by ``Store/events`` and by the ``StoreTask``; a failure that the state
  /// should show belongs into an action. When it is cancelled, so is its Swift task, and what it
  /// still sends is dropped, as is what is sent after it has returned.
  @inlinable
  public static func run(
    _ work: @escaping @Sendable (_ send: @escaping @Sendable (Action) -> Void) async throws -> Void
  ) -> Effect {
    Effect(.run(work))
  }

  /// What a publisher of actions tells, until it ends.
  ///
  /// `actions` is called where the effect begins, and the publisher subscribed to at once.
  @inlinable
  public static func publisher<Kind: PublisherKind>(
    _ actions: @escaping @Sendable () -> Publisher<Action, Kind>
  ) -> Effect {
    Effect(
      .publisher { commit, receive, onEnd in
        actions().subscribe(asEffectOf: commit, receive, onEnd: onEnd)
      })
  }

  /// All of them at once.
  @inlinable
  public static func merge(_ effects: Effect...) -> Effect { merge(effects) }

  /// All of them at once.
  @inlinable
  public static func merge(_ effects: [Effect]) -> Effect {
    Effect(.merge(effects))
  }

  /// Each when the one before has ended.
  ///
  /// One that fails or is cancelled is the last.
  @inlinable
  public static func concatenate(_ effects: Effect...) -> Effect { concatenate(effects) }

  /// Each when the one before has ended.
  ///
  /// One that fails or is cancelled is the last.
  @inlinable
  public static func concatenate(_ effects: [Effect]) -> Effect {
    Effect(.concatenate(effects))
  }

  /// Ends all effects with the id; without any, it does nothing.
  @inlinable
  public static func cancel(id: some Hashable & Sendable) -> Effect {
    Effect(.cancel(EffectID(id)))
  }

  /// Gives the effect an id, by which it can be cancelled, and which is its name in a log.
  ///
  /// Ids are equal if their types and values are. An effect may have several.
  ///
  /// - Parameters:
  ///   - id: The id.
  ///   - cancelInFlight: Whether it ends the effects that were given the id before.
  @inlinable
  public func cancellable(
    id: some Hashable & Sendable, cancelInFlight: Bool = false
  ) -> Effect {
    // Without an effect there is still something to end.
    if case .none = kind { return cancelInFlight ? .cancel(id: id) : self }
    return Effect(.cancellable(self, EffectID(id), cancelInFlight: cancelInFlight))
  }

  /// The same effect for a whole whose actions contain those of a part.
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

/// What there is to do; that which costs nothing is not allocated.
@usableFromInline
enum EffectKind<Action: Sendable>: Sendable {
  case none
  case send(Action)
  case work(EffectWork<Action>)
}

@usableFromInline
indirect enum EffectWork<Action: Sendable>: Sendable {
  @usableFromInline typealias Send = @Sendable (Action) -> Void
  @usableFromInline typealias Run = @Sendable (@escaping Send) async throws -> Void
  @usableFromInline typealias Subscribe =
    @Sendable (
      _ commit: Int, _ receive: @escaping Send, _ onEnd: @escaping @Sendable () -> Void
    ) -> Subscription

  case run(Run)
  case publisher(Subscribe)
  case merge([Effect<Action>])
  case concatenate([Effect<Action>])
  case cancel(EffectID)
  case cancellable(Effect<Action>, EffectID, cancelInFlight: Bool)
  /// What belongs to a part, and how that is found in what is around it.
  case part(any PartStep, Effect<Action>)

  @inlinable
  func map<Other: Sendable>(_ embed: @escaping @Sendable (Action) -> Other) -> Effect<Other> {
    switch self {
    case .run(let work): .run { send in try await work { send(embed($0)) } }
    case .publisher(let subscribe):
      Effect<Other>(
        .publisher { commit, receive, onEnd in
          subscribe(commit, { receive(embed($0)) }, onEnd)
        })
    case .merge(let effects): .merge(effects.map { $0.map(embed) })
    case .concatenate(let effects): .concatenate(effects.map { $0.map(embed) })
    case .cancel(let id): Effect<Other>(.cancel(id))
    case .cancellable(let effect, let id, let cancelInFlight):
      Effect<Other>(.cancellable(effect.map(embed), id, cancelInFlight: cancelInFlight))
    case .part(let step, let effect): Effect<Other>(.part(step, effect.map(embed)))
    }
  }
}
