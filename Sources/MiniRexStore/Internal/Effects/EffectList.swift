import MiniRex

/// The members of a `.merge` or a `.concatenate`.
///
/// Lists nest to any depth when effects are accumulated in a loop. Therefore, `map` maps one level
/// on access, and a nested release is deferred to the outer release.
@usableFromInline
final class EffectList<Action: Sendable>: Sendable {
  private enum Members: Sendable {
    case effects([Effect<Action>])
    case mapped(@Sendable () -> [Effect<Action>])
  }

  private let members: ChainLink<Members>

  @usableFromInline
  init(_ effects: [Effect<Action>]) { members = ChainLink(.effects(effects)) }

  private init(mapped: @escaping @Sendable () -> [Effect<Action>]) {
    members = ChainLink(.mapped(mapped))
  }

  @usableFromInline var effects: [Effect<Action>] {
    switch members.content {
    case .effects(let effects): effects
    case .mapped(let effects): effects()
    }
  }

  @usableFromInline
  func map<Other: Sendable>(_ embed: @escaping @Sendable (Action) -> Other) -> EffectList<Other> {
    EffectList<Other>(mapped: { [self] in effects.map { $0.map(embed) } })
  }
}
