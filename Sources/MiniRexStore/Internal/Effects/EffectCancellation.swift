/// Cancels groups on behalf of tasks, without retaining the store.
@usableFromInline
protocol EffectHost: AnyObject, Sendable {
  func cancel(_ group: EffectGroup)
}

extension EffectGroup {
  func cancel() {
    host.cancel(self)
  }
}

extension EffectRegistry {
  private mutating func cancel(_ effect: RunningEffect) {
    switch effect.phase {
    case .over, .cancelled: return
    case .waiting: remove(effect, .cancelled)
    case .entered:
      outcome.stopped.append(effect)
      remove(effect, .cancelled)
    case .begun(let start):
      if effect.kind == .run {
        effect.phase = .cancelled(start)
        outcome.stopped.append(effect)
      } else {
        end(effect, .cancelled)
      }
    }
  }

  @usableFromInline
  mutating func cancel(_ id: EffectID) {
    guard let effects = byID[id] else { return }
    for (_, effect) in effects.sorted(by: { $0.key < $1.key }) where !effect.isBehind(sender) {
      cancel(effect)
    }
  }

  /// Cancels the effects that a waiting step reaches.
  @usableFromInline
  mutating func cancel(_ id: EffectID, _ reach: EffectReach) {
    guard let effects = byID[id] else { return }
    for (number, effect) in effects.sorted(by: { $0.key < $1.key }) {
      let isCaused = effect.group === reach.group && !effect.isWaiting
      if number <= reach.last || isCaused, !effect.isBehind(sender) { cancel(effect) }
    }
  }

  /// Cancels the effects of removed children.
  @usableFromInline
  mutating func cancel(_ orphans: [RunningEffect]) {
    for effect in orphans.sorted(by: { $0.run.number < $1.run.number }) { cancel(effect) }
  }

  @usableFromInline
  mutating func cancel(_ group: EffectGroup) {
    group.markCancelled()
    for effect in group.members { cancel(effect) }
  }

  /// Removes every effect, because the store was released.
  @usableFromInline
  mutating func cancelAll() {
    for effect in running.sorted(by: { $0.run.number < $1.run.number }) {
      outcome.stopped.append(effect)
      remove(effect, .cancelled)
    }
  }
}
