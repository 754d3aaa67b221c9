import MiniRex

/// The members of a `.merge` or a `.concatenate`.
///
/// Lists nest to any depth when effects are accumulated in a loop. Therefore, `map` maps one level
/// on access, and a nested release is deferred to the outer release. Unchecked: constant until
/// `deinit`.
@usableFromInline
final class EffectList<Action: Sendable>: @unchecked Sendable {
  private enum Members: Sendable {
    case effects([Effect<Action>])
    case mapped(@Sendable () -> [Effect<Action>])
  }

  private var members: Members?

  @usableFromInline
  init(_ effects: [Effect<Action>]) { members = .effects(effects) }

  private init(mapped: @escaping @Sendable () -> [Effect<Action>]) { members = .mapped(mapped) }

  deinit {
    var last = members.take()
    ReleaseChain.release(&last)
  }

  @usableFromInline var effects: [Effect<Action>] {
    switch members {
    case .effects(let effects): effects
    case .mapped(let effects): effects()
    case nil: []
    }
  }

  @usableFromInline
  func map<Other: Sendable>(_ embed: @escaping @Sendable (Action) -> Other) -> EffectList<Other> {
    EffectList<Other>(mapped: { [self] in effects.map { $0.map(embed) } })
  }
}
