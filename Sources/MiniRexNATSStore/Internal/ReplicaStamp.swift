#if NATS
internal import MiniRexNATS

/// The header that makes a message an entry: the replica that sent the action, and its number there.
///
/// The numbers of one origin increase, and each belongs to one action. Later versions may add words.
struct ReplicaStamp: Sendable, Hashable {
  private static let header = "MiniRex-Replica"

  let origin: String
  let number: Int

  init(origin: String, number: Int) { (self.origin, self.number) = (origin, number) }

  init?(_ headers: NATSHeaders) {
    let words = headers[Self.header]?.split(separator: " ") ?? []
    guard words.count >= 2, let number = Int(words[1]), number > 0 else { return nil }
    self.init(origin: String(words[0]), number: number)
  }

  var headers: NATSHeaders { [Self.header: "\(origin) \(number)"] }
}
#endif
