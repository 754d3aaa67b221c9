#if NATS
/// The parts of a report that decide about its row, and the text for the browser.
///
/// The text is strict JSON on one line, and its parts have the types of ``MemberReport``. Names are not unescaped,
/// because they are only compared.
struct ReceivedReport: Sendable {
  /// The maximum size in bytes.
  ///
  /// A longer report is from a stranger.
  static let limit = 2_048

  /// The maximum number of replicas in a report, which bounds their comparison.
  static let replicaLimit = 16

  struct Replica: Sendable {
    var name = ""
    var phase = ""
    var digest: ReceivedDigest?
  }

  let text: [UInt8]
  private(set) var name = ""
  private(set) var version = ""
  private(set) var host = ""
  private(set) var process = 0
  private(set) var started = 0
  private(set) var isInspected = false
  private(set) var hasLeft = false
  private(set) var isReady = true
  private(set) var replicas: [Replica] = []
  /// The longest queue of a subscription.
  private(set) var backlog = 0
  /// The number of updates that the process has dropped.
  private(set) var drops = 0

  /// Returns `nil` for text that no member sends.
  init?(_ bytes: [UInt8]) {
    if bytes.count > Self.limit { return nil }
    text = bytes
    do throws(JSONCursor.Malformed) {
      var cursor = JSONCursor(bytes)
      try cursor.object { (cursor, key) throws(JSONCursor.Malformed) in
        try read(String(decoding: key, as: UTF8.self), from: &cursor)
      }
      try cursor.end()
    } catch {
      return nil
    }
    if name.isEmpty || replicas.count > Self.replicaLimit { return nil }
  }

  private mutating func read(
    _ key: String, from cursor: inout JSONCursor
  ) throws(JSONCursor.Malformed) {
    switch key {
    case "name": name = try cursor.string()
    case "version": version = try cursor.string()
    case "host": host = try cursor.string()
    case "process": process = try cursor.integer()
    case "started": started = try cursor.integer()
    case "isInspected": isInspected = try cursor.bool()
    case "hasLeft": hasLeft = try cursor.bool()
    case "unready":
      isReady = true
      try cursor.array { (cursor) throws(JSONCursor.Malformed) in
        _ = try cursor.string()
        isReady = false
      }
    case "replicas":
      replicas = []
      try cursor.array { (cursor) throws(JSONCursor.Malformed) in
        replicas.append(try Replica(from: &cursor))
      }
    case "subscriptions":
      backlog = 0
      try cursor.array { (cursor) throws(JSONCursor.Malformed) in
        try readSubscription(from: &cursor)
      }
    case "drops": drops = try cursor.integer()
    case "time", "memory", "omitted": _ = try cursor.integer()
    case "processor": _ = try cursor.double()
    case "trouble":
      try cursor.object { (cursor, key) throws(JSONCursor.Malformed) in
        switch String(decoding: key, as: UTF8.self) {
        case "text": _ = try cursor.string()
        case "time": _ = try cursor.integer()
        default: try cursor.skip()
        }
      }
    default: try cursor.skip()
    }
  }

  private mutating func readSubscription(
    from cursor: inout JSONCursor
  ) throws(JSONCursor.Malformed) {
    try cursor.object { (cursor, key) throws(JSONCursor.Malformed) in
      switch String(decoding: key, as: UTF8.self) {
      case "backlog": backlog = max(backlog, try cursor.integer())
      case "drops": _ = try cursor.integer()
      case "name", "place": _ = try cursor.string()
      case "rate": _ = try cursor.double()
      default: try cursor.skip()
      }
    }
  }
}

/// The checksum of a replica's state after an entry.
struct ReceivedDigest: Hashable, Sendable {
  /// An entry of a log.
  ///
  /// The time distinguishes a restored log from the old log.
  struct Point: Hashable, Sendable, Comparable {
    var sequence = 0
    var time = 0

    static func < (one: Point, other: Point) -> Bool {
      (one.sequence, one.time) < (other.sequence, other.time)
    }
  }

  var point = Point()
  var checksum = 0
}

extension ReceivedReport.Replica {
  fileprivate init(from cursor: inout JSONCursor) throws(JSONCursor.Malformed) {
    try cursor.object { (cursor, key) throws(JSONCursor.Malformed) in
      switch String(decoding: key, as: UTF8.self) {
      case "name": name = try cursor.string()
      case "phase": phase = try cursor.string()
      case "digest":
        var read = ReceivedDigest()
        try cursor.object { (cursor, key) throws(JSONCursor.Malformed) in
          switch String(decoding: key, as: UTF8.self) {
          case "sequence": read.point.sequence = try cursor.integer()
          case "time": read.point.time = try cursor.integer()
          case "checksum": read.checksum = try cursor.integer()
          default: try cursor.skip()
          }
        }
        digest = read
      case "trouble": _ = try cursor.string()
      case "sequence", "behind", "pending", "oldest", "snapshot": _ = try cursor.integer()
      default: try cursor.skip()
      }
    }
  }
}
#endif
