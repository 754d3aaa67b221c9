/// The header of an entry: `ORIGIN NUMBER SETTLED`.
///
/// Later versions may add words.
struct EntryHeader: Hashable, Sendable {
  let origin: String
  /// The number of the first action, counted by the origin from 1.
  let number: Int
  /// The highest number that the sender knows to be decided.
  let settled: Int

  /// No origin counts that far, and a sum of such numbers does not overflow.
  private static let limit = 1 << 53

  init(origin: String, number: Int, settled: Int) {
    (self.origin, self.number, self.settled) = (origin, number, settled)
  }

  /// Returns `nil` if a stranger sent the entry.
  init?(_ text: String) {
    let words = text.split(separator: " ")
    guard words.count >= 3, let number = Int(words[1]), let settled = Int(words[2]),
      number > settled, settled >= 0, number < Self.limit
    else { return nil }
    self.init(origin: String(words[0]), number: number, settled: settled)
  }

  var text: String { "\(origin) \(number) \(settled)" }
}

/// The last decided number of each origin.
///
/// It is a function of the log, so all replicas ignore the same entries.
struct DecisionTable: Hashable, Sendable, Codable {
  private struct Last: Hashable, Sendable, Codable {
    var number: Int
    /// The time of the entry, in nanoseconds since 1970.
    var time: Int64
  }

  /// The time of the log without an entry after which an origin is forgotten.
  static let lifetime: Int64 = 30 * 86_400 * 1_000_000_000

  private var lasts: [String: Last] = [:]

  init() {}

  init(from decoder: any Decoder) throws {
    lasts = try decoder.singleValueContainer().decode([String: Last].self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(lasts)
  }

  enum Answer: Hashable {
    /// All lines were decided before.
    case duplicate
    /// An earlier entry of the origin is missing.
    case gap
    /// The number of lines that were decided before.
    case decide(skipping: Int)
  }

  func last(of origin: String) -> Int { lasts[origin]?.number ?? 0 }

  /// Decides about the lines of an entry that the log stored at a time.
  mutating func accept(_ header: EntryHeader, lines count: Int, at time: Int64) -> Answer {
    let known = lasts[header.origin].map { time - $0.time > Self.lifetime ? 0 : $0.number } ?? 0
    // Only a log that has lost entries, or has forgotten the origin, is behind the sender.
    let last = max(known, header.settled)
    let end = header.number + count - 1
    if header.number > last + 1 { return .gap }
    if end <= last { return .duplicate }
    lasts[header.origin] = Last(number: end, time: time)
    return .decide(skipping: last + 1 - header.number)
  }

  /// Removes the origins that are forgotten at a time, which changes no answer.
  mutating func prune(at time: Int64) {
    lasts = lasts.filter { time - $0.value.time <= Self.lifetime }
  }
}
