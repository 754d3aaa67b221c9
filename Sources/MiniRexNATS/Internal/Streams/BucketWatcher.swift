#if NATS
internal import Dispatch
internal import MiniRex

/// Follows the keys of a bucket until they agree with the server.
///
/// The server reports no removal by age, by `purge`, or by the restore of a backup. Three mechanisms find
/// it: each restart reads the last message of each key again, each key that is missing then is confirmed
/// by the leader of the stream, and a timer compares the keys with the first sequence of the stream.
final class BucketWatcher<Value: Codable & Sendable>: Sendable {
  enum Change: Sendable {
    /// A snapshot begins.
    case incomplete
    case entry(subject: String, NATSBucketEntry<Value>)
    /// The keys agree with the bucket.
    case complete
  }

  private struct State: EmittingState {
    var content = BucketContent()
    var outgoing = OutgoingEvents<Change>()
    /// The number of consumers so far, so that replies of an earlier generation are ignored.
    var generation = 0
    /// The time of the server less the time of this process, in nanoseconds.
    var offset: Int64 = 0
    /// The age at which values expire, in nanoseconds, or 0 without a limit.
    ///
    /// It is `nil` until the server has reported it.
    var maxAge: Int64?
    /// The number of the timer in force.
    var timer = 0

    mutating func remove(_ doubt: BucketContent.Doubt) {
      if content.remove(doubt) {
        outgoing.append(.entry(subject: doubt.subject, .absent(.none)))
      }
    }

    /// The milliseconds until the oldest value reaches its age, and at most half a minute.
    var wait: Int {
      guard let maxAge, maxAge > 0 else { return 30_000 }
      // The server may send any numbers.
      let now = Timestamp.now.nanoseconds &+ offset
      let left = content.oldest.map { Int64(clamping: $0) &- now &+ maxAge } ?? maxAge
      return Int(min(30_000, max(250, left / 1_000_000 + 1)))
    }
  }

  private let stream: StreamID
  private let core: ConnectionCore
  private let emit: @Sendable (Change) -> Void
  private let state = Lock(State())
  private let consumer = Lock<WeakConsumer?>(nil)

  private init(
    _ stream: StreamID, _ core: ConnectionCore, _ emit: @escaping @Sendable (Change) -> Void
  ) {
    (self.stream, self.core, self.emit) = (stream, core, emit)
  }

  /// Follows the keys that match the filter until the subscription is canceled.
  ///
  /// - Parameter emit: Called serially.
  static func start(
    _ bucket: NATSBucket, filter: String, catchingUp way: NATSCatchUp,
    _ emit: @escaping @Sendable (Change) -> Void
  ) -> Subscription {
    let rereadsLast = if case .latest = way { true } else { false }
    let order = ConsumerConfig(
      stream: bucket.stream, filter: filter, start: .lastOfSubjects, rereadsLast: rereadsLast)
    // The consumer releases the watcher, and `emit` with it, when the connection closes.
    let watcher = BucketWatcher(bucket.stream, bucket.core, emit)
    let calls = OrderedConsumer.Calls(
      receive: { message, place, _ in watcher.take(message, place) },
      begins: { watcher.begin($0, isSnapshot: $1) }, hasSnapshot: { watcher.endSnapshot() },
      measures: { offset in watcher.state.withLock { $0.offset = offset } },
      learns: { watcher.learn($0, nil) })
    let consumer = OrderedConsumer(order, over: bucket.core, calls)
    watcher.consumer.withLock { $0 = WeakConsumer(consumer) }
    return consumer.start()
  }

  private func begin(_ beginning: OrderedConsumer.Beginning, isSnapshot: Bool) {
    var doubts: [BucketContent.Doubt] = []
    state.emitting(emit) { state in
      state.generation += 1
      doubts = state.content.begin(beginning, isSnapshot: isSnapshot)
      if isSnapshot { state.outgoing.append(.incomplete) }
    }
    confirm(doubts)
  }

  private func take(_ message: RawMessage, _ place: MessageMetadata) {
    let (subject, revision) = (message.subject, NATSRevision(place.sequence))
    let entry: NATSBucketEntry<Value>?
    if message.isDeletion {
      entry = .absent(revision)
    } else {
      do throws(NATSError) {
        entry = .present(try Codec<Value>.decode(message.bytes), revision)
      } catch {
        core.report(.undecodable(subject: subject, reason: "\(error)"))
        entry = nil
      }
    }
    let isPresent = if case .absent? = entry { false } else { true }
    state.emitting(emit) { state in
      let isNew = state.content.take(subject, place, isPresent: isPresent)
      if isNew, let entry { state.outgoing.append(.entry(subject: subject, entry)) }
    }
    if isPresent, let milliseconds = message.expiration {
      let age =
        Timestamp.now.nanoseconds &- Int64(clamping: place.nanoseconds)
        &+ state.withLock { $0.offset }
      let wait = max(0, milliseconds) - max(0, age / 1_000_000)
      confirm(
        BucketContent.Doubt(subject: subject, revision: place.sequence),
        after: Int(clamping: max(0, wait)))
    }
  }

  private func endSnapshot() {
    var doubts: [BucketContent.Doubt] = []
    let contradicted = state.withLock { $0.content.takeContradicted() }
    state.emitting(emit) { state in
      let (missing, areRemoved) = state.content.endSnapshot()
      if areRemoved {
        for doubt in missing { state.remove(doubt) }
      } else {
        doubts = missing
      }
      state.outgoing.append(.complete)
    }
    confirm(doubts)
    if let contradicted { compare(contradicted) }
    scheduleCheck()
  }

  /// Reads the bucket again from its start if the leader of the stream has lost the message.
  ///
  /// The last message of a bucket may be replaced at any time, so the consumer cannot compare it after a restore. A
  /// server that lags behind also delivers older messages.
  private func compare(_ doubt: BucketContent.Doubt) {
    core.stored(.last(subject: doubt.subject), in: stream).flatMap { [core, stream] stored in
      core.streamInfo(stream).map { (stored, $0.state.lastSeq) }
    }.subscribe(
      success: { [weak self] stored, last in
        let time = Timestamp(stored.time)?.nanoseconds
        guard let self,
          state.withLock({ $0.content.isRolledBack(doubt, last: stored.seq, time: time) })
        else { return }
        consumer.withLock { $0 }?.consumer?.rollBack(to: last)
      },
      failure: { _ in }
    ).detached()
  }

  private func remove(_ doubt: BucketContent.Doubt) {
    state.emitting(emit) { $0.remove(doubt) }
  }

  /// Emits the absence of those keys that the leader of the stream does not have.
  private func confirm(_ doubts: [BucketContent.Doubt]) {
    for doubt in doubts {
      core.stored(.last(subject: doubt.subject), in: stream).subscribe(
        success: { _ in },
        failure: { [weak self] error in
          if error.isMissingMessage { self?.remove(doubt) }
        }
      ).detached()
    }
  }
}

extension BucketWatcher {
  /// Emits the absence of a key with an expiration, once the leader of the stream has removed it.
  ///
  /// The server removes values up to a second late.
  private func confirm(_ doubt: BucketContent.Doubt, after milliseconds: Int) {
    // A timer of more than a day may be early, and is then set again.
    let wait = min(milliseconds, 86_400_000) + 100
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(wait)) { [weak self] in
      guard let self, state.withLock({ $0.content.has(doubt) }) else { return }
      core.stored(.last(subject: doubt.subject), in: stream).subscribe { [weak self] result in
        switch result {
        case .failure(let error) where error.isMissingMessage:
          self?.remove(doubt)
        case .failure(.closed): break
        case .success, .failure:
          self?.confirm(doubt, after: max(300, milliseconds - wait))
        }
      }.detached()
    }
  }

  /// Removes the keys that are older than the first message of the stream.
  private func learn(_ stream: JetStream.Stream, _ generation: Int?) {
    state.emitting(emit) { state in
      state.maxAge = stream.config.maxAge
      guard let generation, generation == state.generation else { return }
      for doubt in state.content.expired(before: stream.state.firstSeq) { state.remove(doubt) }
    }
    scheduleCheck()
  }

  private func scheduleCheck() {
    let next = state.withLock { state -> (timer: Int, wait: Int)? in
      // The age stays unknown without the permission to read the stream's configuration.
      if state.maxAge == nil { return nil }
      state.timer += 1
      return (state.timer, state.wait)
    }
    guard let next else { return }
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(next.wait)) {
      [weak self] in self?.check(next.timer)
    }
  }

  private func check(_ timer: Int) {
    let (current, generation) = state.withLock { ($0.timer, $0.generation) }
    if timer != current { return }
    core.streamInfo(stream).subscribe(
      success: { [weak self] in self?.learn($0, generation) },
      failure: { [weak self] error in if error != .closed { self?.scheduleCheck() } }
    ).detached()
  }
}

private final class WeakConsumer: Sendable {
  weak let consumer: OrderedConsumer?

  init(_ consumer: OrderedConsumer) { self.consumer = consumer }
}
#endif
