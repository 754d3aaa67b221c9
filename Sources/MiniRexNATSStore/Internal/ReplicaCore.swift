#if NATS
internal import Dispatch
internal import MiniRex
internal import MiniRexJournal
internal import MiniRexNATS
internal import MiniRexStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Decides the messages of the stream, serially.
final class ReplicaCore<State: Codable & Sendable, Action: Codable & Sendable>: Sendable {
  /// The position of the decided entries, which are a prefix of the stream.
  private struct Progress: Sendable {
    var origins: ReplicaOrigins
    var lastEntry: UInt64
  }

  let outbox: Outbox<Action>
  let snapshots: ReplicaSnapshots<State>
  let sequence: PublishedProperty<UInt64>
  let failure = PublishedProperty<ReplicaFailure?>(nil)
  private let stream: NATSStream
  private let store: Store<State, Action>
  private let gate: ReplicaGate<Action>
  private let undecodable: UndecodableActionPolicy
  private let decoder = makeDecoder()
  private let progress: Lock<Progress>
  private let effects: Lock<Store<State, EffectAction<State, Action>>?>
  private let following = Lock<(token: Subscription?, isOver: Bool)>((nil, false))
  /// The messages behind a gap during a query about it, otherwise `nil`.
  private let held = Lock<[NATSStreamMessage<Data>]?>(nil)
  private let asking = Lock<(count: Int, token: Subscription?)>((0, nil))
  private let examining = Lock<Subscription?>(nil)

  init(
    _ store: Store<State, Action>, _ gate: ReplicaGate<Action>, of stream: NATSStream,
    _ snapshots: ReplicaSnapshots<State>, from start: ReplicaSnapshot<State>,
    _ outbox: Outbox<Action>, undecodable: UndecodableActionPolicy
  ) {
    self.store = store
    self.gate = gate
    self.stream = stream
    self.snapshots = snapshots
    self.outbox = outbox
    self.undecodable = undecodable
    sequence = PublishedProperty(start.sequence)
    progress = Lock(
      Progress(origins: start.origins ?? ReplicaOrigins(), lastEntry: start.sequence))
    effects = Lock(makeEffects(of: store.state, sendingTo: outbox))
  }

  func follow() {
    examine()
    let messages = stream.broadcaster(of: Data.self, from: .sequence(sequence.value + 1)) {
      [weak self] in self?.stop(.replaced)
    }
    let token = messages.subscribe { [weak self] in
      self?.receive($0)
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
    asking.withLock { $0.token.take() }?.invalidate()
    examining.withLock { $0.take() }?.invalidate()
    // Released outside the lock, which cancels the running effects.
    _ = effects.withLock { $0.take() }
    outbox.close()
  }

  /// Appends nothing until the stream is known to keep its messages.
  private func examine() {
    let token = stream.retention.subscribe { [weak self] result in
      switch result {
      case .success((_, let removal?)): self?.stop(.unsuitable(reason: removal))
      case .success: self?.outbox.open()
      case .failure: self?.examineLater()
      }
    }
    let old = examining.withLock { examining -> Subscription? in
      defer { examining = token }
      return examining
    }
    withExtendedLifetime(old) {}
  }

  private func examineLater() {
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(250)) { [weak self] in
      guard let self, !isOver else { return }
      examine()
    }
  }

  private var isOver: Bool { following.withLock { $0.isOver } }

  private func stop(_ reason: ReplicaFailure) {
    if isOver { return }
    failure.value = reason
    end()
  }
}

extension ReplicaCore {
  private func receive(_ message: NATSStreamMessage<Data>) {
    let isHeld = held.withLock { $0?.append(message) != nil }
    if !isHeld { decide(all: CollectionOfOne(message)) }
  }

  /// Returns `false` if the remaining messages wait for the answer about a gap.
  ///
  /// Serial: a delivering thread queues its message while the thread of an answer is here.
  @discardableResult
  private func decide(all messages: some Collection<NATSStreamMessage<Data>>) -> Bool {
    for (index, message) in zip(messages.indices, messages) {
      if isOver { return false }
      let next = sequence.value + 1
      if message.sequence > next {
        let rest = Array(messages[index...])
        held.withLock { $0 = rest + ($0 ?? []) }
        ask(about: next..<message.sequence)
        return false
      }
      // The snapshot belongs to another stream with the same name.
      if message.sequence < next { stop(.replaced) } else { decide(message) }
    }
    return true
  }

  /// Skips messages that were removed from the middle of the stream.
  ///
  /// Messages that the limits of the stream removed precede its first message, and stop the
  /// replica.
  private func ask(about gap: Range<UInt64>) {
    let count = asking.withLock { asking in
      asking.count += 1
      return asking.count
    }
    let token = stream.retention.subscribe { [weak self] result in
      switch result {
      case .success((_, let removal?)): self?.stop(.unsuitable(reason: removal))
      case .success((let first, nil)) where first > gap.lowerBound: self?.stop(.missing(gap))
      case .success: self?.resume(after: gap)
      case .failure: self?.askLater(about: gap)
      }
    }
    let old = asking.withLock { asking -> Subscription? in
      // After an early answer, the next request may be stored already.
      if asking.count != count { return token }
      defer { asking.token = token }
      return asking.token
    }
    withExtendedLifetime(old) {}
  }

  private func askLater(about gap: Range<UInt64>) {
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(250)) { [weak self] in
      guard let self, !isOver else { return }
      ask(about: gap)
    }
  }

  private func resume(after gap: Range<UInt64>) {
    stream.report(.removed(stream: stream.name, gap))
    if isOver { return }
    didRead(gap.upperBound - 1)
    while let messages = takeQueued(), decide(all: messages) {}
  }

  /// Returns `nil` if no message is queued.
  ///
  /// The delivering thread then decides the next message.
  private func takeQueued() -> [NATSStreamMessage<Data>]? {
    held.withLock { held in
      let messages = held ?? []
      held = messages.isEmpty ? nil : []
      return messages.isEmpty ? nil : messages
    }
  }
}

extension ReplicaCore {
  private func decide(_ message: NATSStreamMessage<Data>) {
    guard message.subject == stream.name, let stamp = ReplicaStamp(message.headers) else {
      setAside(message, "No replica sent it.")
      return didRead(message.sequence)
    }
    let isNew = progress.withLock { $0.origins.add(stamp, at: message.date) }
    let own = outbox.isOwn(stamp) ? stamp : nil
    if !isNew { return didRead(message.sequence, own: own) }
    do {
      commit(try decoder.decode(Action.self, from: message.payload), message, own: own)
    } catch {
      let (type, reason) = ("\(Action.self)", "\(error)")
      if undecodable == .stop {
        return stop(.undecodable(sequence: message.sequence, type: type, reason: reason))
      }
      setAside(message, "It cannot be decoded as \(type): \(reason)")
      didRead(message.sequence, own: own, failure: .undecodable(reason))
    }
  }

  private func setAside(_ message: NATSStreamMessage<Data>, _ reason: String) {
    stream.report(
      .undecodable(
        subject: message.subject,
        reason: "The message \(message.sequence) of the stream '\(stream.name)': \(reason)"))
  }

  private func didRead(
    _ last: UInt64, own stamp: ReplicaStamp? = nil, failure: NATSError? = nil
  ) {
    sequence.value = last
    outbox.didRead(last, own: stamp, failure: failure)
  }

  private func commit(
    _ action: Action, _ message: NATSStreamMessage<Data>, own stamp: ReplicaStamp?
  ) {
    let effect = gate.open { store.send(action) }
    let state = store.state
    sequence.value = message.sequence
    let host = effects.withLock { $0 }
    if stamp != nil {
      host?.send(.run(effect, state))
    } else if let host, host.effectCount > 0 {
      host.send(.follow(state))
    }
    let before = progress.withLock { progress in
      defer { progress.lastEntry = message.sequence }
      return progress.lastEntry
    }
    if stamp != nil, snapshots.isDue(at: message.sequence, after: before) {
      let origins = progress.withLock { $0.origins }.pruned(at: message.date)
      snapshots.write(
        ReplicaSnapshot(sequence: message.sequence, state: state, origins: origins))
    }
    outbox.didRead(message.sequence, own: stamp)
  }
}
#endif
