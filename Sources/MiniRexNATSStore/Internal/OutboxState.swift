#if NATS
internal import MiniRex
internal import MiniRexNATS

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The pending actions of a replica, and the state of the first one.
struct OutboxState: Sendable {
  struct Pending: Sendable {
    let number: Int
    let data: Data
    /// The context of the caller.
    let headers: NATSHeaders
  }

  /// - `ready`: The first action is not in the stream. → `appending`
  /// - `appending`: The server has not answered. → `ready` with the next action, `unknown`
  /// - `unknown`: The action may be in the stream. → `locating`, `ready` with the next action
  /// - `locating`: The end of the stream is requested. → `reading`, `unknown`, `ready`
  /// - `reading`: The replica has not read up to that end. → `ready`, `locating`
  private enum Phase: Sendable {
    case ready
    case appending
    case unknown
    case locating
    case reading
  }

  /// A request, numbered so that answers to earlier requests are ignored.
  struct Step: Sendable {
    enum Request: Sendable {
      case append(Pending)
      case locateEnd
    }

    let attempt: Int
    let request: Request
  }

  enum Reaction: Sendable {
    case goOn
    case fail(TaskSource<UInt64, NATSError>, NATSError)
    /// Reports an error, if any.
    case tryLater(NATSError?)
    case lookAgain
  }

  /// A Boolean value that indicates whether the stream is suitable for replicas.
  var isOpen = false
  var isConnected = false
  var isPausing = false
  /// The sequence up to which the replica has read the stream.
  private var position: UInt64
  private var phase = Phase.ready
  /// The end of the stream after the last append, or `nil` if it does not matter.
  private var end: UInt64?
  private var attempt = 0
  private var request: Subscription?
  private var isClosed = false
  /// A Boolean value that indicates whether the stream was full at the last append.
  private var isFull = false
  private var lastNumber = 0
  private var queue: [Pending] = []
  /// The number of completed actions in `queue`, which are removed when they are half of it.
  private var done = 0
  private var sources: [Int: TaskSource<UInt64, NATSError>] = [:]

  init(at position: UInt64) { self.position = position }

  private var first: Pending? { done < queue.count ? queue[done] : nil }

  mutating func add(
    _ data: Data, _ headers: NATSHeaders, _ source: TaskSource<UInt64, NATSError>, limit: Int
  ) throws(NATSError) {
    if isClosed { throw .closed }
    if queue.count - done >= limit { throw .sendLimitReached }
    lastNumber += 1
    queue.append(Pending(number: lastNumber, data: data, headers: headers))
    sources[lastNumber] = source
  }

  /// Returns the next request, or `nil`.
  mutating func begin() -> Step? {
    guard isOpen, isConnected, !isPausing, !isClosed, let first else { return nil }
    switch phase {
    case .ready:
      (phase, end) = (.appending, nil)
      attempt += 1
      return Step(attempt: attempt, request: .append(first))
    case .unknown:
      phase = .locating
      attempt += 1
      return Step(attempt: attempt, request: .locateEnd)
    case .appending, .locating, .reading: return nil
    }
  }

  /// Returns the subscription to release outside the lock.
  mutating func keep(_ subscription: Subscription, for attempt: Int) -> Subscription? {
    // After an early answer, the next request may be stored already.
    if self.attempt != attempt { return subscription }
    defer { request = subscription }
    return request
  }

  mutating func didAppend(_ attempt: Int, _ result: Result<UInt64, NATSError>) -> Reaction {
    guard case .appending = phase, self.attempt == attempt, let first else { return .goOn }
    switch result {
    case .success:
      isFull = false
      drop(first.number)
      return .goOn
    case .failure(let error) where error.isFullStream:
      defer { isFull = true }
      phase = .ready
      isPausing = true
      return .tryLater(isFull ? nil : error)
    case .failure(let error) where error.mayBeAppended:
      phase = .unknown
      isPausing = true
      return .tryLater(nil)
    case .failure(let error):
      drop(first.number)
      return sources.removeValue(forKey: first.number).map { .fail($0, error) } ?? .goOn
    }
  }

  mutating func didLocateEnd(_ attempt: Int, _ result: Result<UInt64, NATSError>) -> Reaction {
    guard case .locating = phase, self.attempt == attempt else { return .goOn }
    switch result {
    case .success(let sequence):
      // The earlier answer also followed the append. It is too high if messages were removed.
      let end = min(self.end ?? sequence, sequence)
      self.end = end
      phase = position < end ? .reading : .ready
      return position < end ? .lookAgain : .goOn
    case .failure:
      phase = .unknown
      isPausing = true
      return .tryLater(nil)
    }
  }

  /// Requests the end again: the message there may have been removed, and would never be read.
  mutating func lookAgain(_ attempt: Int) {
    if case .reading = phase, self.attempt == attempt { phase = .unknown }
  }

  /// Processes a message that the replica has read, which may be an action of this outbox.
  mutating func didRead(
    _ sequence: UInt64, own number: Int?
  ) -> TaskSource<UInt64, NATSError>? {
    position = sequence
    if let number {
      drop(number)
      return sources.removeValue(forKey: number)
    }
    if case .reading = phase, let end, position >= end { phase = .ready }
    return nil
  }

  mutating func close() -> [TaskSource<UInt64, NATSError>] {
    isClosed = true
    queue = []
    done = 0
    defer { sources = [:] }
    return sources.sorted { $0.key < $1.key }.map(\.value)
  }

  private mutating func drop(_ number: Int) {
    guard first?.number == number else { return }
    phase = .ready
    done += 1
    if done * 2 > queue.count {
      queue.removeFirst(done)
      done = 0
    }
  }
}

extension NATSError {
  /// A Boolean value that indicates whether the stream has reached a limit and discards new messages.
  fileprivate var isFullStream: Bool {
    if case .jetStream(10_077, _) = self { true } else { false }
  }

  /// A Boolean value that indicates whether the message may be in the stream, or may enter it later.
  fileprivate var mayBeAppended: Bool {
    switch self {
    case .payloadTooLarge, .notPermitted, .invalidSubject, .invalidHeader, .notEncodable: false
    // No leader, a server that starts or stops, or a cluster without a majority.
    case .jetStream(let code, _): [10_006, 10_007, 10_008, 10_009, 10_041, 10_076].contains(code)
    default: true
    }
  }
}
#endif
