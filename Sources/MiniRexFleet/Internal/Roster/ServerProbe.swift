#if NATS
internal import Foundation
internal import MiniRex
internal import MiniRexNATS

/// Finds out whether the server answers, even if it keeps the connection open and is stopped.
///
/// The server returns a message to its sender.
final class ServerProbe: Sendable {
  /// The time without an answer after which a server counts as stopped.
  static let patience = Duration.seconds(4)
  private let nats: NATSConnection
  private let subject: String
  private let answeredAt = Lock<ContinuousClock.Instant?>(nil)
  private let bag = SubscriptionBag()

  init(_ nats: NATSConnection, of fleet: String) {
    self.nats = nats
    subject = FleetSubject.probe(fleet, UUID().uuidString)
    nats.broadcaster(of: String.self, on: subject).subscribe { [weak self] _ in
      self?.answeredAt.withLock { $0 = .now }
    }.store(in: bag)
  }

  /// Sends a probe, and returns whether one has returned in time.
  func answers(at now: ContinuousClock.Instant) -> Bool {
    guard nats.isReady.current() == true else { return false }
    try? nats.publish("", on: subject)
    return answeredAt.withLock { $0.map { now - $0 < Self.patience } ?? false }
  }

  func end() { bag.invalidate() }
}
#endif
