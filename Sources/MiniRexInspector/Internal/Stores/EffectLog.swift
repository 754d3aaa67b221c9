internal import MiniRexStore

/// The beginnings and ends of the last effects of a store.
struct EffectLog: Sendable {
  /// An effect from its start to its end.
  struct Span: Sendable, Encodable, Equatable {
    let number: Int
    let name: String?
    /// The number of the commit whose action returned the effect.
    let commit: Int
    /// The time of the start in seconds since 1970.
    let start: Double
    /// The time of the end, or `nil` if the effect has not ended.
    var end: Double?
    /// The reason of the end, or `nil` if the effect has not ended.
    var outcome: String?
    /// The number of the change, counted for the entire log.
    var version = 0

    private enum CodingKeys: CodingKey { case number, name, commit, start, end, outcome }
  }

  /// The outcome of an effect whose end was not recorded.
  static let unseen = "ended while not recorded"

  /// The effects by number, so the starts are almost in order.
  private(set) var spans: [Span] = []
  /// The number of changes.
  private(set) var version = 0
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  /// Adds a started effect, unless it is known.
  mutating func begin(_ number: Int, _ name: String?, commit: Int, at time: Double) {
    let index = spans.lastIndex { $0.number <= number }
    if let index, spans[index].number == number { return }
    version += 1
    spans.insert(
      Span(number: number, name: name, commit: commit, start: time, version: version),
      at: index.map { $0 + 1 } ?? 0)
    // Running effects stay longer than effects that have ended.
    if spans.count > limit { spans.remove(at: spans.firstIndex { $0.end != nil } ?? 0) }
  }

  /// Ends an effect, and replaces an end that was not recorded.
  mutating func end(_ number: Int, _ outcome: String, at time: Double) {
    guard let index = spans.lastIndex(where: { $0.number == number }),
      spans[index].end == nil || spans[index].outcome == EffectLog.unseen
    else { return }
    version += 1
    (spans[index].end, spans[index].outcome, spans[index].version) = (time, outcome, version)
  }

  /// Ends the effects that are no longer unfinished.
  mutating func endAll(except unfinished: Set<Int>, at time: Double) {
    for span in spans where span.end == nil && !unfinished.contains(span.number) {
      end(span.number, EffectLog.unseen, at: time)
    }
  }
}
