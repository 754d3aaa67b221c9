/// The header of an entry: `ORIGIN NUMBER SETTLED`.
///
/// Later versions may add words.
struct EntryHeader: Hashable, Sendable {
  let origin: String
  /// The number of the first action, counted by the origin from 1.
  let number: Int
  /// The highest number that the sender knows to be decided.
  let settled: Int

  init(origin: String, number: Int, settled: Int) {
    (self.origin, self.number, self.settled) = (origin, number, settled)
  }

  /// Returns `nil` if a stranger sent the entry.
  init?(_ text: String) {
    let words = text.split(separator: " ")
    guard words.count >= 3, let number = Int(words[1]), let settled = Int(words[2]),
      number > settled, settled >= 0
    else { return nil }
    self.init(origin: String(words[0]), number: number, settled: settled)
  }

  var text: String { "\(origin) \(number) \(settled)" }
}

/// The last decided number of each origin.
///
/// It is a function of the log, so all replicas ignore the same entries.
struct DecisionTable: Hashable, Sendable, Codable {
  private var lasts: [String: Int] = [:]

  init() {}

  init(from decoder: any Decoder) throws {
    lasts = try decoder.singleValueContainer().decode([String: Int].self)
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

  func last(of origin: String) -> Int { lasts[origin] ?? 0 }

  /// Decides about the lines of an entry.
  mutating func accept(_ header: EntryHeader, lines count: Int) -> Answer {
    // Only a log that has lost entries is behind the sender.
    let last = max(lasts[header.origin] ?? 0, header.settled)
    let end = header.number + count - 1
    if header.number > last + 1 { return .gap }
    if end <= last { return .duplicate }
    lasts[header.origin] = end
    return .decide(skipping: last + 1 - header.number)
  }
}
