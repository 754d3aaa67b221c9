/// A store as its effects know it, which do not keep it: one weak reference for all of them, since each
/// is slow to make.
///
/// Unchecked: `store` is set before anybody else knows the store.
@usableFromInline
final class StoreLink<State: Sendable, Action: Sendable>: EffectHost, @unchecked Sendable {
  @usableFromInline weak var store: Store<State, Action>?

  @usableFromInline init() {}

  /// Nobody hears it without a store.
  ///
  /// Whoever is inside holds the store, which could not end while its reducer runs.
  @inlinable
  func perform(_ input: StoreInput<Action>) {
    guard let store, case .root(let storage) = store.backing else { return }
    defer { extendLifetime(store) }
    storage.perform(input)
  }

  /// False if the effect was cancelled before, or the store has gone.
  @inlinable
  func begins(_ effect: RunningEffect) -> Bool {
    guard let store, case .root(let storage) = store.backing else { return false }
    defer { extendLifetime(store) }
    return storage.begins(effect)
  }

  @usableFromInline
  func cancel(_ group: EffectGroup) {
    perform(.cancel(group))
  }
}
