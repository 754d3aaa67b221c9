/// A `.concatenate` that is under way.
///
/// Unchecked: guarded by exclusive access to the store.
@usableFromInline
class EffectSequence: @unchecked Sendable {
  @usableFromInline let ids: [EffectID]
  @usableFromInline let place: AnyPlace?
  @usableFromInline let parent: EffectSequence?
  @usableFromInline let group: EffectGroup
  @usableFromInline let commit: Int
  /// How much of the present member is not over.
  var running = 0
  /// Whether a member has failed or was cancelled, so that there is no next one.
  @usableFromInline final var isStopped = false

  @usableFromInline
  init(
    ids: [EffectID], at place: AnyPlace?, in parent: EffectSequence?, _ group: EffectGroup,
    commit: Int
  ) {
    self.ids = ids
    self.place = place
    self.parent = parent
    self.group = group
    self.commit = commit
  }
}

/// The members that are still to come, which only its store knows.
@usableFromInline
final class EffectMembers<Action: Sendable>: EffectSequence, @unchecked Sendable {
  @usableFromInline var rest: ArraySlice<Effect<Action>>

  @inlinable
  init(
    _ effects: [Effect<Action>], ids: [EffectID], at place: AnyPlace?,
    in parent: EffectSequence?, _ group: EffectGroup, commit: Int
  ) {
    rest = effects[...]
    super.init(ids: ids, at: place, in: parent, group, commit: commit)
  }

  @inlinable
  func takeNext() -> Effect<Action>? {
    isStopped ? nil : rest.popFirst()
  }
}
