/// A weak reference to the store, shared by all its effects, because weak references are slow to
/// create.
///
/// Unchecked: `store` is set before another thread can access it.
@usableFromInline
final class WeakStore<State: Sendable, Action: Sendable>: EffectHost, @unchecked Sendable {
  @usableFromInline weak var store: Store<State, Action>?

  @usableFromInline init() {}

  /// Handles an input, or drops it if the store was released.
  ///
  /// Retains the store until it returns, because a store cannot be released inside its own reducer.
  @inlinable
  func perform(_ input: StoreInput<Action>) {
    guard let store, case .root(let storage) = store.backing else { return }
    defer { extendLifetime(store) }
    storage.perform(input)
  }

  /// Begins an effect, unless it was canceled or the store was released.
  @inlinable
  func begins(_ effect: RunningEffect) -> Bool {
    guard let store, case .root(let storage) = store.backing else { return false }
    defer { extendLifetime(store) }
    return storage.begins(effect)
  }

  /// Reports an error of an effect.
  @usableFromInline
  func failed(_ effect: RunningEffect, with error: any Error) {
    guard let store, case .root(let storage) = store.backing else { return }
    defer { extendLifetime(store) }
    storage.failed(effect, with: error)
  }

  @usableFromInline
  func cancel(_ group: EffectGroup) {
    perform(.cancel(group))
  }
}
