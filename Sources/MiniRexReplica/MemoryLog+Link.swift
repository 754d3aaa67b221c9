package import MiniRex

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension MemoryLog {
  /// The connection of one replica.
  package final class Link: ReplicaLog {
    private struct Appended: Sendable {
      let message: ReplicaMessage
      let source: TaskSource<UInt64, ReplicaLogError>
    }

    private struct State: Sendable {
      var isConnected: Bool
      /// The entries in flight, and those of lost connections, which may arrive later.
      var inFlight: [Appended] = []
      var late: [ReplicaMessage] = []
      var position: UInt64 = 0
      var events: BroadcastSource<ReplicaLogEvent>?
      /// The reads of the snapshot that wait.
      var isHeld = false
      var waiting: [TaskSource<Data?, ReplicaLogError>] = []
    }

    private let log: MemoryLog
    private let state: Lock<State>
    /// Keeps the order of the events.
    private let emitting = Lock(())

    init(_ log: MemoryLog, isConnected: Bool) {
      self.log = log
      state = Lock(State(isConnected: isConnected))
    }

    package func append(_ entry: ReplicaMessage) -> PublishedTask<UInt64, ReplicaLogError> {
      let source = TaskSource<UInt64, ReplicaLogError>()
      let isConnected = state.withLock { state in
        if state.isConnected { state.inFlight.append(Appended(message: entry, source: source)) }
        return state.isConnected
      }
      if !isConnected { source.finish(.failure(ReplicaLogError("disconnected"))) }
      return source.publisher
    }

    package func entries(after sequence: UInt64) -> Broadcaster<ReplicaLogEvent> {
      Broadcaster { [self] receive in
        let events = BroadcastSource<ReplicaLogEvent>()
        let subscription = events.publisher.subscribe { receive($0) }
        emitting.withLock { _ in
          let isConnected = state.withLock { state in
            (state.position, state.events) = (sequence, events)
            return state.isConnected
          }
          if isConnected { events.broadcast(.connected(logState)) }
        }
        return subscription
      }
    }

    package func snapshot() -> PublishedTask<Data?, ReplicaLogError> {
      if !state.withLock({ $0.isConnected }) { return .failure(ReplicaLogError("disconnected")) }
      let source = TaskSource<Data?, ReplicaLogError>()
      let isHeld = state.withLock { state in
        if state.isHeld { state.waiting.append(source) }
        return state.isHeld
      }
      if !isHeld { source.finish(.success(log.content.withLock { $0.snapshot?.data })) }
      return source.publisher
    }

    package var snapshotDistance: Int { log.snapshotDistance }

    package func digests() -> Broadcaster<ReplicaDigest> {
      Broadcaster { [log] receive in
        let subscription = log.digests.publisher.subscribe { receive($0) }
        if let old = log.content.withLock({ $0.snapshot }) { receive(ReplicaDigest(old)) }
        return subscription
      }
    }

    package func replaceSnapshot(
      _ snapshot: ReplicaLogSnapshot
    ) -> PublishedTask<Void, ReplicaLogError> {
      if !state.withLock({ $0.isConnected }) { return .failure(ReplicaLogError("disconnected")) }
      return log.replaceSnapshot(snapshot).map { .failure($0) } ?? .success(())
    }

    private var logState: ReplicaLogState {
      let position = position
      return log.content.withLock { content in
        ReplicaLogState(
          first: content.first, last: content.last, lastTime: content.time, entry: content[position]
        )
      }
    }

    /// The number of entries in flight.
    package var inFlightCount: Int { state.withLock { $0.inFlight.count } }

    /// The sequence of the last entry that was delivered here.
    package var position: UInt64 { state.withLock { $0.position } }

    /// The number of accepted entries that were not delivered here.
    package var undelivered: Int { Int(log.last) - Int(position) }

    /// Accepts the oldest entry in flight.
    ///
    /// - Parameter losesAnswer: A Boolean value that indicates whether the replica receives no answer.
    package func acceptNext(losesAnswer: Bool = false) {
      guard let next = takeNext() else { return }
      let sequence = log.accept(next.message)
      if !losesAnswer { next.source.finish(.success(sequence)) }
    }

    /// Refuses the oldest entry in flight.
    package func refuseNext() {
      takeNext()?.source.finish(.failure(ReplicaLogError("refused")))
    }

    /// Accepts an entry of a lost connection, the oldest first.
    package func acceptLate() {
      let message = state.withLock { $0.late.isEmpty ? nil : $0.late.removeFirst() }
      if let message { _ = log.accept(message) }
    }

    private func takeNext() -> Appended? {
      state.withLock { $0.inFlight.isEmpty ? nil : $0.inFlight.removeFirst() }
    }

    /// Delivers up to `count` entries, if connected.
    package func deliverNext(_ count: Int) {
      for _ in 0..<count where !deliverNext() { return }
    }

    /// Returns `false` if it has delivered nothing.
    private func deliverNext() -> Bool {
      emitting.withLock { _ in
        let (events, position) = state.withLock { ($0.isConnected ? $0.events : nil, $0.position) }
        guard let events, let entry = log.entry(after: position) else { return false }
        state.withLock { $0.position = entry.sequence }
        events.broadcast(.entry(entry))
        return true
      }
    }

    /// Cuts the connection.
    ///
    /// The entries in flight may still be accepted.
    package func cut() {
      let (events, failed) = state.withLock { state in
        defer { state.inFlight = [] }
        state.late += state.inFlight.map(\.message)
        let events = state.isConnected ? state.events : nil
        state.isConnected = false
        return (events, state.inFlight)
      }
      for appended in failed { appended.source.finish(.failure(ReplicaLogError("disconnected"))) }
      emitting.withLock { _ in events?.broadcast(.disconnected) }
    }

    /// Begins another connection without reporting the loss, as a log that notices that it was replaced.
    package func beginAgain() {
      emitting.withLock { _ in
        let events = state.withLock { $0.isConnected ? $0.events : nil }
        events?.broadcast(.connected(logState))
      }
    }

    /// Lets reads of the snapshot wait until the next call with `false`.
    package func holdSnapshots(_ isHeld: Bool) {
      let waiting = state.withLock { state in
        state.isHeld = isHeld
        defer { if !isHeld { state.waiting = [] } }
        return isHeld ? [] : state.waiting
      }
      for source in waiting { source.finish(.success(log.content.withLock { $0.snapshot?.data })) }
    }

    /// Answers the oldest read of the snapshot that waits.
    package func answerSnapshot() {
      let source = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
      source?.finish(.success(log.content.withLock { $0.snapshot?.data }))
    }

    /// The number of reads of the snapshot that wait.
    package var heldCount: Int { state.withLock { $0.waiting.count } }

    /// Connects again.
    package func connect() {
      emitting.withLock { _ in
        let events = state.withLock { state in
          defer { state.isConnected = true }
          return state.isConnected ? nil : state.events
        }
        events?.broadcast(.connected(logState))
      }
    }
  }
}
