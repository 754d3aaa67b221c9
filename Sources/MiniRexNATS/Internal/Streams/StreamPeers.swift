#if NATS
/// The servers that store a stream, as one of them knows the others.
struct StreamPeers: Decodable, Sendable {
  struct Peer: Decodable, Sendable {
    let offline: Bool?
    /// The nanoseconds since the leader last received something from the server.
    let active: Int64
  }

  /// `nil` if the server knows no leader.
  let leader: String?
  let replicas: [Peer]?

  /// A Boolean value that indicates whether the stream may have another leader, which has further messages.
  ///
  /// A server without a leader answers for itself. A leader without contact to the others answers for some ten seconds
  /// more. The others send heartbeats every second, and elect another leader after four seconds at the earliest.
  var mayBeOutdated: Bool {
    if leader?.isEmpty ?? true { return true }
    let peers = replicas ?? []
    let count = peers.count { $0.offline != true && $0.active < 3_000_000_000 }
    return 2 * (count + 1) <= peers.count + 1
  }
}
#endif
