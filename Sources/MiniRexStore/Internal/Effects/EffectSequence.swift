import MiniRex

/// A running `.concatenate`.
///
/// Unchecked: guarded by exclusive access to the store.
@usableFromInline
class EffectSequence: @unchecked Sendable {
  @usableFromInline private(set) final var context: EffectContext
  /// The number of unfinished effects of the current member.
  final var running = 0
  /// `true` if a member failed or was canceled, so no further member runs.
  @usableFromInline final var isStopped = false

  @usableFromInline
  init(in context: EffectContext) {
    self.context = context
  }

  deinit {
    var parent = context.sequence.take()
    ReleaseChain.release(&parent)
  }

  final var group: EffectGroup { context.group }

  /// The enclosing sequence.
  final var parent: EffectSequence? { context.sequence }
}

/// A sequence with its remaining members, whose type only its store knows.
///
/// Unchecked: the members run one after the other.
@usableFromInline
final class EffectMembers<Action: Sendable>: EffectSequence, @unchecked Sendable {
  /// The remaining members as a stack: a nested list is last, and runs next.
  @usableFromInline var rest: [ArraySlice<Effect<Action>>]

  @inlinable
  init(_ effects: [Effect<Action>], in context: EffectContext) {
    rest = [effects[...]]
    super.init(in: context)
  }

  /// Flattens a nested list, so its members need no sequence.
  @inlinable
  func takeNext() -> Effect<Action>? {
    if isStopped { return nil }
    while var members = rest.popLast() {
      guard let next = members.popFirst() else { continue }
      if !members.isEmpty { rest.append(members) }
      guard case .work(.concatenate(let list)) = next.kind else { return next }
      rest.append(list.effects[...])
    }
    return nil
  }
}
