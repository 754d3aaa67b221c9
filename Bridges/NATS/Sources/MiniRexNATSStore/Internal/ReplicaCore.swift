internal import MiniRex
internal import MiniRexNATS
internal import MiniRexStore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Commits what comes from the stream, one after the other.
final class ReplicaCore<State: Codable & Sendable, Action: Codable & Sendable>: Sendable {
  let outbox: Outbox<Action>
  let snapshots: ReplicaSnapshots<State>
  let sequence: PublishedProperty<UInt64>
  let failure = PublishedProperty<ReplicaFailure?>(nil)
  private let store: Store<State, Action>
  private let gate: ReplicaGate<Action>
  private let decoder = makeDecoder()
  private let effects: Lock<Store<State, EffectAction<State, Action>>?>
  private let following = Lock<(token: Subscription?, isOver: Bool)>((nil, false))

  init(
    _ store: Store<State, Action>, _ gate: ReplicaGate<Action>,
    _ snapshots: ReplicaSnapshots<State>, from sequence: UInt64, _ outbox: Outbox<Action>
  ) {
    self.store = store
    self.gate = gate
    self.snapshots = snapshots
    self.outbox = outbox
    self.sequence = PublishedProperty(sequence)
    effects = Lock(makeEffects(of: store.state, sendingTo: outbox))
  }

  func follow(_ stream: NATSStream) {
    let messages = stream.broadcaster(of: Data.self, from: .sequence(sequence.value + 1)) {
      [weak self] in self?.stop(.replaced)
    }
    let token = messages.subscribe { [weak self] in
      self?.take($0)
    } onEnd: { [weak self] in
      self?.stop(.closed)
    }
    let isOver = following.withLock { following in
      following.token = token
      return following.isOver
    }
    if isOver { token.invalidate() }
  }

  func end() {
    let token = following.withLock { following in
      following.isOver = true
      return following.token
    }
    token?.invalidate()
    // Released after the lock, which cancels what runs.
    _ = effects.withLock { $0.take() }
    outbox.close()
  }

  private func stop(_ reason: ReplicaFailure) {
    if following.withLock({ $0.isOver }) { return }
    failure.value = reason
    end()
  }

  private func take(_ message: StreamMessage<Data>) {
    if following.withLock({ $0.isOver }) { return }
    let next = sequence.value + 1
    // The snapshot was made of another stream of the name.
    if message.sequence < next { return stop(.replaced) }
    if message.sequence != next { return stop(.missing(next..<max(next + 1, message.sequence))) }
    let action: Action
    do {
      action = try decoder.decode(Action.self, from: message.payload)
    } catch {
      return stop(
        .undecodable(sequence: message.sequence, type: "\(Action.self)", reason: "\(error)"))
    }
    commit(action, message)
  }

  private func commit(_ action: Action, _ message: StreamMessage<Data>) {
    let own = outbox.number(of: message.headers)
    let effect = gate.open { store.send(action) }
    let state = store.state
    sequence.value = message.sequence
    let host = effects.withLock { $0 }
    if own != nil {
      host?.send(.run(effect, state))
    } else if let host, host.effectCount > 0 {
      host.send(.follow(state))
    }
    guard let own else { return }
    snapshots.write(state, at: message.sequence)
    outbox.hasCome(own, as: message.sequence)
  }
}
