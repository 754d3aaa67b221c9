internal import Dispatch
internal import MiniRex
internal import MiniRexNATS

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Appends the actions of one replica, one at a time and in their order.
///
/// One at a time, since of two that are on their way the second may be taken and the first not, when
/// the stream has no leader for a moment. Each has a name of its own, so that what was appended
/// without an answer is not appended again.
final class Outbox<Action: Codable & Sendable>: Sendable {
  private let stream: NATSStream
  private let limit: Int
  private let origin = UUID().uuidString
  private let encoder = makeEncoder()
  private let state = Lock(OutboxState())
  private let watching = Lock<Subscription?>(nil)

  private static var header: String { "MiniRex-Replica" }

  init(to stream: NATSStream, over nats: NATSConnection, limit: Int) {
    (self.stream, self.limit) = (stream, limit)
    let token = nats.status.subscribe { [weak self] status in
      guard let self else { return }
      let isConnected = status == .connected
      state.withLock { $0.isConnected = isConnected }
      if isConnected { sendNext() }
    }
    watching.withLock { $0 = token }
  }

  func send(_ action: Action) -> PublishedTask<UInt64, NATSError> {
    let data: Data
    do {
      data = try encoder.encode(action)
    } catch {
      return .failure(.notEncodable("\(error)"))
    }
    let done = TaskSource<UInt64, NATSError>()
    do throws(NATSError) {
      try state.withLock { state throws(NATSError) in try state.add(data, done, limit: limit) }
    } catch {
      return .failure(error)
    }
    sendNext()
    return done.publisher
  }

  /// The number of an action that was sent here; `nil` if it was sent elsewhere.
  func number(of headers: NATSHeaders) -> Int? {
    let parts = headers[Self.header]?.split(separator: " ") ?? []
    guard parts.count == 2, parts[0] == origin else { return nil }
    return Int(parts[1])
  }

  /// It is committed here.
  func hasCome(_ number: Int, as sequence: UInt64) {
    let done = state.withLock { $0.remove(number) }
    done?.finish(.success(sequence))
    sendNext()
  }

  func close() {
    let all = state.withLock { $0.close() }
    watching.withLock { $0.take() }?.invalidate()
    for done in all { done.finish(.failure(.closed)) }
  }

  private func sendNext() {
    guard let action = state.withLock({ $0.begin() }) else { return }
    let task = stream.append(
      action.data, id: "\(origin)-\(action.number)",
      headers: [Self.header: "\(origin) \(action.number)"])
    let token = task.subscribe { [weak self] in self?.isAnswered(action.number, $0) }
    let old = state.withLock { $0.keep(token, for: action.number) }
    withExtendedLifetime(old) {}
  }

  private func isAnswered(_ number: Int, _ result: Result<UInt64, NATSError>) {
    switch state.withLock({ $0.take(result, for: number) }) {
    case .goOn: sendNext()
    case .fail(let done, let error):
      done.finish(.failure(error))
      sendNext()
    case .tryLater:
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(250)) { [weak self] in
        guard let self else { return }
        state.withLock { $0.isPausing = false }
        sendNext()
      }
    }
  }
}
