internal import MiniRex
internal import MiniRexNATS

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What waits to be appended, and what has been and has not come back.
struct OutboxState: Sendable {
  struct Waiting: Sendable {
    let number: Int
    let data: Data
  }

  enum Step {
    case goOn
    case fail(TaskSource<UInt64, NATSError>, NATSError)
    case tryLater
  }

  var isConnected = false
  var isPausing = false
  /// What `sending` is asked for with.
  private var asking: Subscription?
  private var isClosed = false
  private var lastNumber = 0
  private var queue: [Waiting] = []
  /// How many of `queue` have gone: they are removed when they are half of it.
  private var gone = 0
  private var sending: Int?
  private var firstTry: ContinuousClock.Instant?
  private var sources: [Int: TaskSource<UInt64, NATSError>] = [:]

  /// The server knows names for two minutes: what is tried again later might be there twice.
  private static let patience = Duration.seconds(90)

  mutating func add(
    _ data: Data, _ done: TaskSource<UInt64, NATSError>, limit: Int
  ) throws(NATSError) {
    if isClosed { throw .closed }
    if queue.count - gone >= limit { throw .sendLimitReached }
    lastNumber += 1
    queue.append(Waiting(number: lastNumber, data: data))
    sources[lastNumber] = done
  }

  /// What is to be appended now.
  mutating func begin() -> Waiting? {
    guard isConnected, !isPausing, !isClosed, sending == nil, gone < queue.count else { return nil }
    sending = queue[gone].number
    firstTry = firstTry ?? .now
    return queue[gone]
  }

  /// What is kept no more, to be released after the lock.
  mutating func keep(_ token: Subscription, for number: Int) -> Subscription? {
    if sending != number { return token }
    defer { asking = token }
    return asking
  }

  mutating func take(_ result: Result<UInt64, NATSError>, for number: Int) -> Step {
    guard sending == number else { return .goOn }
    sending = nil
    let error: NATSError
    switch result {
    case .success:
      drop(number)
      return .goOn
    case .failure(let reason): error = reason
    }
    switch error {
    case .timedOut, .disconnected, .noResponders, .noStream, .sendLimitReached:
      if let firstTry, .now - firstTry < Self.patience {
        isPausing = true
        return .tryLater
      }
      drop(number)
      return sources.removeValue(forKey: number).map { .fail($0, .timedOut) } ?? .goOn
    default:
      drop(number)
      return sources.removeValue(forKey: number).map { .fail($0, error) } ?? .goOn
    }
  }

  /// It has come back, maybe before the answer, or without one.
  mutating func remove(_ number: Int) -> TaskSource<UInt64, NATSError>? {
    drop(number)
    return sources.removeValue(forKey: number)
  }

  mutating func close() -> [TaskSource<UInt64, NATSError>] {
    isClosed = true
    queue = []
    gone = 0
    defer { sources = [:] }
    return sources.sorted { $0.key < $1.key }.map(\.value)
  }

  private mutating func drop(_ number: Int) {
    if sending == number { sending = nil }
    guard gone < queue.count, queue[gone].number == number else { return }
    firstTry = nil
    gone += 1
    if gone * 2 > queue.count {
      queue.removeFirst(gone)
      gone = 0
    }
  }
}
