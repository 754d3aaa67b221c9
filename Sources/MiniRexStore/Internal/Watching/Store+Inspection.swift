package import MiniRex

/// An unfinished effect, for an inspector.
@usableFromInline
package struct EffectStatus: Sendable {
  package let run: EffectRun
  /// The time since the start, or `nil` if the effect has not started.
  package let age: Duration?
  /// A Boolean value that indicates whether the effect was canceled and has not returned.
  package let isCancelled: Bool
}

extension Store {
  /// The name in an instrument, or `nil` without one.
  package var instrumentName: String? { lineage?.name }

  /// The number of effects that were ever entered.
  ///
  /// For a scope, this is the number of the parent.
  package var effectTotal: Int { host.effectTotal }

  /// At most `count` unfinished effects, oldest first.
  ///
  /// For a scope, these are the effects of the parent.
  package func unfinishedEffects(atMost count: Int) -> [EffectStatus] {
    host.unfinishedEffects(atMost: count)
  }

  /// Emits the current state as a commit, then each later event.
  ///
  /// For a scope, these are only commits.
  package func subscribeToEvents(
    _ receive: @escaping @Sendable (StoreEvent<State, Action>) -> Void
  ) -> Subscription {
    switch backing {
    case .root(let storage): storage.joinWithCurrentState(receive) ?? .ended
    case .scope(let scope): scope.subscribeToCommits { receive(.committed($0)) }
    }
  }

  /// The number of the last commit.
  ///
  /// For a scope, this is the number of the parent.
  package var commitTotal: Int { host.commitTotal }
}

extension StoreStorage {
  @usableFromInline
  var effectTotal: Int { withAccess { inside.effects.lastNumber } }

  @usableFromInline
  var commitTotal: Int { lastNumber }

  @usableFromInline
  func unfinishedEffects(atMost count: Int) -> [EffectStatus] {
    let effects = withAccess { inside.effects.statuses }
    return Array(effects.sorted { $0.run.number < $1.run.number }.prefix(count))
  }
}

extension EffectRegistry {
  fileprivate var statuses: [EffectStatus] {
    let now = Duration.sinceOrigin
    return running.map { effect in
      switch effect.phase {
      case .begun(let start): EffectStatus(run: effect.run, age: now - start, isCancelled: false)
      case .cancelled(let start): EffectStatus(run: effect.run, age: now - start, isCancelled: true)
      case .waiting, .entered, .over: EffectStatus(run: effect.run, age: nil, isCancelled: false)
      }
    }
  }
}
