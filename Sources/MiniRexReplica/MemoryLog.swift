package import MiniRex

/// A log in memory, for tests, with one link for each replica.
///
/// Nothing happens until the test moves it: ``Link/acceptNext()`` and ``Link/deliverNext(_:)`` are single steps.
package final class MemoryLog: Sendable {
  private let content = Lock<[ReplicaMessage]>([])

  package init() {}

  /// The accepted entries, in their order.
  package var entries: [ReplicaMessage] { content.withLock { $0 } }

  fileprivate func accept(_ message: ReplicaMessage) -> UInt64 {
    content.withLock { content in
      content.append(message)
      return UInt64(content.count)
    }
  }

  fileprivate func entry(at sequence: UInt64) -> ReplicaMessage? {
    content.withLock { $0.indices.contains(Int(sequence) - 1) ? $0[Int(sequence) - 1] : nil }
  }

  /// Creates a link, which is connected unless `isCut`.
  package func link(isCut: Bool = false) -> Link { Link(self, isConnected: !isCut) }

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
    }

    private let log: MemoryLog
    private let state: Lock<State>

    fileprivate init(_ log: MemoryLog, isConnected: Bool) {
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
      let events = BroadcastSource<ReplicaLogEvent>()
      state.withLock { state in
        state.position = sequence
        state.events = events
      }
      return Broadcaster { [self] receive in
        let token = events.publisher.subscribe { receive($0) }
        if state.withLock({ $0.isConnected }) { events.broadcast(.connected) }
        return token
      }
    }

    /// The number of entries in flight.
    package var inFlightCount: Int { state.withLock { $0.inFlight.count } }

    /// The sequence of the last entry that was delivered here.
    package var position: UInt64 { state.withLock { $0.position } }

    /// The number of accepted entries that were not delivered here.
    package var undelivered: Int { log.entries.count - Int(position) }

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
      for _ in 0..<count {
        let next: (UInt64, BroadcastSource<ReplicaLogEvent>)? = state.withLock { state in
          guard state.isConnected, let events = state.events else { return nil }
          return (state.position + 1, events)
        }
        guard let (sequence, events) = next, let message = log.entry(at: sequence) else { return }
        state.withLock { $0.position = sequence }
        events.broadcast(.entry(sequence, message))
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
      events?.broadcast(.disconnected)
    }

    /// Connects again.
    package func connect() {
      let events = state.withLock { state in
        defer { state.isConnected = true }
        return state.isConnected ? nil : state.events
      }
      events?.broadcast(.connected)
    }
  }
}
