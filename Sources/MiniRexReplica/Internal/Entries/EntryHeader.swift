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
  static let limit = 1 << 53

  init(origin: String, number: Int, settled: Int) {
    (self.origin, self.number, self.settled) = (origin, number, settled)
  }

  /// Returns `nil` if a stranger sent the entry.
  init?(_ text: String) {
    let words = text.split(separator: " ")
    guard words.count >= 3, let number = Self.number(words[1]),
      let settled = Self.number(words[2]), number > settled
    else { return nil }
    self.init(origin: String(words[0]), number: number, settled: settled)
  }

  var text: String { "\(origin) \(number) \(settled)" }

  /// Returns a number that an origin can count to, or `nil`.
  static func number(_ text: some StringProtocol) -> Int? {
    Int(text).flatMap { (0..<limit).contains($0) ? $0 : nil }
  }
}

/// The last decided number of each origin.
///
/// It is a function of the log, so all replicas ignore the same entries.
struct DecisionTable: Hashable, Sendable, Codable {
  private struct Last: Hashable, Sendable, Codable {
    var number: Int
    /// The time of the entry, in nanoseconds since 1970.
    var time: Int64

    /// Works with any times, which a log or a snapshot may contain.
    func isForgotten(at now: Int64) -> Bool {
      let (age, overflows) = now.subtractingReportingOverflow(time)
      return overflows ? now > time : age > DecisionTable.lifetime
    }
  }

  /// An origin is forgotten after this time of the log without an entry, in nanoseconds.
  static let lifetime: Int64 = 30 * 86_400 * 1_000_000_000

  private var lasts: [String: Last] = [:]

  init() {}

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    lasts = try container.decode([String: Last].self)
    // An entry may have many lines, so a number may exceed the limit of a header.
    if !lasts.values.allSatisfy({ (0..<2 * EntryHeader.limit).contains($0.number) }) {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "The number of an origin is out of range.")
    }
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
    let known = lasts[header.origin].map { $0.isForgotten(at: time) ? 0 : $0.number } ?? 0
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
    lasts = lasts.filter { !$0.value.isForgotten(at: time) }
  }
}
