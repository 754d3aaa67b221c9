#if NATS
internal import Foundation

/// The state of a process, as it reports it every two seconds.
///
/// It has at most ``limit`` bytes for every process.
struct MemberReport: Encodable, Sendable {
  /// The maximum size in bytes, which keeps a member below 1 KiB/s with the line of the protocol.
  static let limit = 1_900

  struct Trouble: Encodable, Sendable {
    let text: String
    /// The time in milliseconds since 1970.
    let time: Int64
  }

  var name: String
  var version: String
  var host: String
  var process: Int32
  /// The start of the process's membership in milliseconds since 1970.
  var started: Int64
  /// The time of the report in milliseconds since 1970, because the clocks of machines differ.
  var time: Int64 = 0
  /// A Boolean value that indicates whether the member answers requests for its inspector.
  var isInspected: Bool
  /// The names of the conditions that are `false`.
  var unready: [String] = []
  /// The resident memory in bytes.
  var memory = 0
  /// The share of a processor since the previous report.
  var processor = 0.0
  var trouble: Trouble?
  var replicas: [ReplicaReport] = []
  var subscriptions: [SubscriptionReport] = []
  /// The number of replicas and subscriptions that the report omits.
  var omitted = 0
  /// The number of dropped updates of all subscriptions, including omitted ones and ended ones.
  var drops = 0
  /// A Boolean value that indicates whether the member has left the fleet.
  var hasLeft = false

  /// The last report of a process.
  var leaving: MemberReport {
    var report = self
    report.hasLeft = true
    return report
  }

  /// Returns the JSON text on one line, without the last subscriptions and replicas if it is too long.
  func encoded() -> Data {
    var report = self
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    while let data = try? encoder.encode(report) {
      if data.count <= Self.limit { return data }
      if report.subscriptions.popLast() == nil, report.replicas.popLast() == nil { break }
      report.omitted += 1
    }
    return Data()
  }
}

/// The state of a replica.
struct ReplicaReport: Encodable, Sendable {
  struct Digest: Encodable, Sendable {
    let sequence: Int
    /// The time of the entry in nanoseconds since 1970.
    let time: Int64
    let checksum: UInt32
  }

  var name: String
  var phase: String
  var sequence: Int
  var behind = 0
  var pending = 0
  /// The send time of the oldest pending action in milliseconds since 1970.
  var oldest: Int64?
  /// The time of the last snapshot in milliseconds since 1970.
  var snapshot: Int64?
  var trouble: String?
  var digest: Digest?
}

/// The state of a subscription in the graph, or of all subscriptions to the server.
struct SubscriptionReport: Encodable, Sendable {
  var name: String
  var place: String?
  /// The number of updates per second.
  var rate: Double
  var backlog: Int
  var drops: Int
}

/// Returns the text on one line, without the rest beyond a number of bytes.
///
/// Characters would not bound the size: one character may have any number of scalars.
func shortened(_ text: String, to limit: Int) -> String {
  var short = ""
  var count = 0
  for scalar in text.unicodeScalars {
    let isControl = scalar.properties.generalCategory == .control
    count += scalar.utf8.count
    if count > limit { return short + "…" }
    short.unicodeScalars.append(isControl || scalar == "\"" || scalar == "\\" ? "'" : scalar)
  }
  return short
}

extension Date {
  var milliseconds: Int64 {
    // A date that a user computed may be infinite.
    Int64(max(-1e15, min(1e15, timeIntervalSince1970 * 1_000)))
  }
}
#endif
