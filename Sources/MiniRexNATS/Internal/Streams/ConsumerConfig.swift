#if NATS
/// The messages that an ordered consumer reads.
struct ConsumerConfig: Sendable {
  enum Start: Sendable {
    case beginning
    case sequence(UInt64)
    case time(String)
    case last
    case new
    case lastOfSubjects
    /// All messages that existed at the beginning, which a restart reads again.
    case history
  }

  let stream: StreamID
  var filter: String?
  var start: Start
  /// A Boolean value that indicates whether each restart reads the last message of each subject again.
  var rereadsLast = false
  /// A Boolean value that indicates whether `hasSnapshot` reports the end of each reading, even without a snapshot.
  var reportsEnd = false
  /// A Boolean value that indicates whether the server omits the payloads.
  var headersOnly = false

  /// A Boolean value that indicates whether the reader watches the content of a bucket.
  var isBucket: Bool {
    switch start {
    case .lastOfSubjects, .history: true
    default: false
    }
  }

  /// The configuration of the server's consumer.
  ///
  /// - Parameter room: The maximum number of unacknowledged messages.
  func consumer(
    delivering subject: String, from position: ConsumerState.Position, room: Int
  ) -> Config {
    var config = Config(deliverSubject: subject, filterSubject: filter, maxAckPending: room)
    config.headersOnly = headersOnly ? true : nil
    switch (position, start) {
    case (.after(let sequence, _), _) where !rereadsLast:
      config.deliverPolicy = "by_start_sequence"
      config.optStartSeq = sequence.next
    case (.since(let time), _) where !rereadsLast:
      config.deliverPolicy = "by_start_time"
      config.optStartTime = time.text
    case (_, .beginning), (_, .history): config.deliverPolicy = "all"
    case (_, .sequence(let sequence)):
      config.deliverPolicy = "by_start_sequence"
      config.optStartSeq = max(1, sequence)
    case (_, .time(let time)):
      config.deliverPolicy = "by_start_time"
      config.optStartTime = time
    case (_, .last): config.deliverPolicy = "last"
    case (_, .new): config.deliverPolicy = "new"
    case (_, .lastOfSubjects): config.deliverPolicy = "last_per_subject"
    }
    return config
  }

  struct Config: Encodable, Sendable {
    let deliverSubject: String
    let filterSubject: String?
    var deliverPolicy = ""
    var optStartSeq: UInt64?
    var optStartTime: String?
    var headersOnly: Bool?
    /// One acknowledgment covers all earlier messages.
    ///
    /// The server never delivers a message again, because `ackWait` is a day: a reader that misses a
    /// message makes a new consumer.
    let ackPolicy = "all"
    let maxAckPending: Int
    let ackWait = 86_400_000_000_000
    let maxDeliver = 1
    let replayPolicy = "instant"
    let flowControl = true
    let idleHeartbeat = ConsumerConfig.heartbeat * 1_000_000
    let memStorage = true
    let numReplicas = 1
    let inactiveThreshold = 30_000_000_000
  }

  /// The time between two heartbeats, in milliseconds.
  static let heartbeat = 2_000
}
#endif
