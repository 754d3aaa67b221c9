/// What a reader asks for.
struct ReadingOrder: Sendable {
  enum Start: Sendable {
    case beginning
    case sequence(UInt64)
    case time(String)
    case last
    case new
    case lastOfSubject
  }

  let stream: String
  var filter: String?
  var start: Start
  /// If it begins again with the last message of the subject, instead of the next one.
  var skipsToLast = false

  /// After what it goes on if the stream was made anew; `nil` for where it has begun.
  var lastOfNew: UInt64? {
    if case .lastOfSubject = start { nil } else { 0 }
  }

  /// What the server is to make; `next` once it is known where to go on.
  ///
  /// - Parameter room: How many messages may be on their way, or wait for a slow subscriber.
  func consumer(delivering subject: String, next: UInt64?, room: Int) -> Config {
    var config = Config(deliverSubject: subject, filterSubject: filter, maxAckPending: room)
    switch (next, start) {
    case (let next?, _) where !skipsToLast:
      config.deliverPolicy = "by_start_sequence"
      config.optStartSeq = next
    case (_, .beginning): config.deliverPolicy = "all"
    case (_, .sequence(let sequence)):
      config.deliverPolicy = "by_start_sequence"
      config.optStartSeq = max(1, sequence)
    case (_, .time(let time)):
      config.deliverPolicy = "by_start_time"
      config.optStartTime = time
    case (_, .last): config.deliverPolicy = "last"
    case (_, .new): config.deliverPolicy = "new"
    case (_, .lastOfSubject): config.deliverPolicy = "last_per_subject"
    }
    return config
  }

  struct Config: Encodable, Sendable {
    let deliverSubject: String
    let filterSubject: String?
    var deliverPolicy = ""
    var optStartSeq: UInt64?
    var optStartTime: String?
    /// One answer for all messages up to it.
    ///
    /// Nothing comes again without one, since the wait is that long: a reader that has lost something
    /// asks anew.
    let ackPolicy = "all"
    let maxAckPending: Int
    let ackWait = 86_400_000_000_000
    let maxDeliver = 1
    let replayPolicy = "instant"
    let flowControl = true
    let idleHeartbeat = ReadingOrder.heartbeat * 1_000_000
    let memStorage = true
    let numReplicas = 1
    let inactiveThreshold = 30_000_000_000
  }

  /// In milliseconds.
  static let heartbeat = 2_000
}
