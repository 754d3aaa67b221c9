#if NATS
internal import Dispatch
internal import MiniRex
internal import MiniRexJournal
internal import MiniRexNATS

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Appends the actions of one replica, one at a time and in order.
///
/// While the stream has no leader, the server may refuse the first of two concurrent appends and
/// accept the second. An action without an answer is appended again only after the replica has read
/// the stream up to its end without it: the server forgets IDs after a while.
final class Outbox<Action: Codable & Sendable>: Sendable {
  private let stream: NATSStream
  private let limit: Int
  private let origin = UUID().uuidString
  private let encoder = makeEncoder()
  private let state: Lock<OutboxState>
  private let watching = Lock<Subscription?>(nil)

  /// - Parameter position: The sequence up to which the replica has read the stream.
  init(to stream: NATSStream, over nats: NATSConnection, limit: Int, at position: UInt64) {
    (self.stream, self.limit) = (stream, limit)
    state = Lock(OutboxState(at: position))
    let subscription = nats.isConnected.subscribe { [weak self] isConnected in
      guard let self else { return }
      state.withLock { $0.isConnected = isConnected }
      // A failed append runs callbacks of its task.
      if isConnected { DispatchQueue.global().async { self.sendNext() } }
    }
    watching.withLock { $0 = subscription }
  }

  /// Permits appends.
  func open() {
    state.withLock { $0.isOpen = true }
    sendNext()
  }

  func send(_ action: Action) -> PublishedTask<UInt64, NATSError> {
    let data: Data
    do {
      data = try encoder.encode(action)
    } catch {
      return .failure(.notEncodable("\(error)"))
    }
    let source = TaskSource<UInt64, NATSError>()
    do throws(NATSError) {
      let headers = stream.propagating([:])
      try state.withLock { state throws(NATSError) in
        try state.add(data, headers, source, limit: limit)
      }
    } catch {
      return .failure(error)
    }
    sendNext()
    return source.publisher
  }

  /// A Boolean value that indicates whether the action was sent here.
  func isOwn(_ stamp: ReplicaStamp) -> Bool { stamp.origin == origin }

  /// Processes a message that the replica has read, which may be an action of this outbox.
  func didRead(
    _ sequence: UInt64, own stamp: ReplicaStamp? = nil, failure: NATSError? = nil
  ) {
    let source = state.withLock { $0.didRead(sequence, own: stamp?.number) }
    source?.finish(failure.map { .failure($0) } ?? .success(sequence))
    sendNext()
  }

  func close() {
    let sources = state.withLock { $0.close() }
    watching.withLock { $0.take() }?.invalidate()
    for source in sources { source.finish(.failure(.closed)) }
  }

  private func sendNext() {
    guard let step = state.withLock({ $0.begin() }) else { return }
    let attempt = step.attempt
    let subscription =
      switch step.request {
      case .append(let action):
        append(action).subscribe { [weak self] result in
          self?.react(to: attempt) { $0.didAppend(attempt, result) }
        }
      case .locateEnd:
        stream.lastSequence.subscribe { [weak self] result in
          self?.react(to: attempt) { $0.didLocateEnd(attempt, result) }
        }
      }
    let old = state.withLock { $0.keep(subscription, for: attempt) }
    withExtendedLifetime(old) {}
  }

  private func append(_ action: OutboxState.Pending) -> PublishedTask<UInt64, NATSError> {
    // No message ID: the server forgets it, replicas recognize copies by their numbers, and servers
    // of a cluster may compare IDs at different times.
    stream.append(
      action.data,
      headers: NATSHeaders(
        ReplicaStamp(origin: origin, number: action.number).headers.fields + action.headers.fields))
  }

  private func react(to attempt: Int, _ change: (inout OutboxState) -> OutboxState.Reaction) {
    switch state.withLock({ change(&$0) }) {
    case .goOn: sendNext()
    case .fail(let source, let error):
      source.finish(.failure(error))
      sendNext()
    case .tryLater(let error):
      if let error { stream.report(.notSent(subject: stream.name, error)) }
      later(.milliseconds(250)) { $0.isPausing = false }
    case .lookAgain: later(.seconds(1)) { $0.lookAgain(attempt) }
    }
  }

  private func later(
    _ interval: DispatchTimeInterval, _ change: @escaping @Sendable (inout OutboxState) -> Void
  ) {
    DispatchQueue.global().asyncAfter(deadline: .now() + interval) { [weak self] in
      guard let self else { return }
      state.withLock { change(&$0) }
      sendNext()
    }
  }
}
#endif
