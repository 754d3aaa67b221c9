/// The lines of a file of pending actions, by number and place.
struct OutboxIndex: Sendable {
  private(set) var size: Int
  /// The number of the last decided action.
  private(set) var settled: Int
  /// The number of the last action in the file.
  private(set) var last: Int
  /// The places of the lines that a written state does not contain, up to the last.
  private var places: [Int]
  /// The number of the other lines.
  private var forgottenLines = 0
  /// The numbers of the last action of each entry that was sent first at a Unix second.
  private var marks: [(number: Int, second: Int)]

  /// The number of the last action that a written state contains.
  private var forgotten: Int { last - places.count }

  /// The place of the first line that a written state does not contain.
  var start: Int { places.first ?? size }

  init(_ content: OutboxContent) {
    (size, settled, last) = (content.size, content.settled, content.next - 1)
    places = last == content.lines.last?.number ? content.lines.map(\.place) : []
    marks = content.marks
  }

  mutating func hasWritten(_ count: Int) { size += count }

  mutating func hasAppended(_ number: Int, at place: Int) {
    places.append(place)
    last = number
  }

  mutating func hasSettled(through number: Int) { settled = number }

  func isMarked(_ number: Int) -> Bool { marks.last?.number ?? settled >= number }

  mutating func mark(_ number: Int, at second: Int) { marks.append((number, second)) }

  /// Returns the Unix second at which an action was sent first, or `nil`.
  func sentAt(_ number: Int) -> Int? { marks.first { $0.number >= number }?.second }

  /// Forgets the actions up to a number, which a written state contains.
  ///
  /// - Returns: `true` if most lines are forgotten.
  mutating func forget(through number: Int) -> Bool {
    let count = max(0, min(max(0, number), last) - forgotten)
    places.removeFirst(count)
    forgottenLines += count
    marks.removeFirst(marks.prefix { $0.number <= number }.count)
    return forgottenLines > 1_000 && forgottenLines > places.count
  }

  /// The lines that precede the actions in a file without the forgotten lines.
  func head(of origin: String) -> [UInt8] {
    var bytes = OutboxContent.line("ORIGIN \(origin)") + OutboxContent.line("= \(settled)")
    for (number, second) in marks { bytes += OutboxContent.line("> \(number) \(second)") }
    return bytes
  }

  /// Records that the forgotten lines were removed.
  ///
  /// - Parameter shift: The change of the places of the other lines.
  mutating func hasCompacted(to size: Int, shift: Int) {
    (self.size, forgottenLines) = (size, 0)
    for index in places.indices { places[index] += shift }
  }
}
