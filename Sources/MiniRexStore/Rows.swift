import MiniRex

/// Rows in an order, each found by its id, that know which of them have changed.
///
/// ```swift
/// var todos: Rows = [Todo(id: 1, text: "Wash"), Todo(id: 2, text: "Cook")]
/// todos[id: 2]?.isDone = true
/// todos[id: 1] = nil
/// ```
///
/// Ids are unique: the first row with an id stays. Finding and changing a row by its id, and appending and
/// removing at the end, cost the same for any number of rows. Insertions, removals and moves elsewhere
/// cost as much as in an array, and count the rows behind again.
///
/// It is a value. Copies share what they have in common until one is changed; comparing copies of which
/// neither has been changed is one comparison of two numbers.
public struct Rows<Row: Identifiable & Sendable>: Sendable where Row.ID: Sendable {
  @usableFromInline var rows: [Row] = []
  @usableFromInline var positions: [Row.ID: Int] = [:]
  @usableFromInline var log: RowsLog<Row.ID>
  /// When there were other rows, or in another order.
  @usableFromInline var structureStamp: RowsStamp

  /// Makes no rows.
  @inlinable
  public init() {
    log = RowsLog(.never)
    structureStamp = .never
  }

  /// Makes rows of the first with each id.
  @inlinable
  public init(_ rows: some Sequence<Row>) {
    self.init()
    self.rows.reserveCapacity(rows.underestimatedCount)
    positions.reserveCapacity(rows.underestimatedCount)
    for row in rows where positions[row.id] == nil {
      positions[row.id] = self.rows.count
      self.rows.append(row)
    }
    if self.rows.isEmpty { return }
    log = RowsLog(.next())
    structureStamp = log.latest
  }

  /// The ids, in the order of their rows; an array of its own, which is O(n) to make.
  @inlinable
  public var ids: [Row.ID] { rows.map(\.id) }

  /// Where the row with the id is; `nil` if there is none.
  @inlinable
  public func index(id: Row.ID) -> Int? { positions[id] }

  /// The row with the id, which is changed in place.
  ///
  /// Written, a row with a new id is appended, and `nil` removes. A row keeps its id: giving it another
  /// one, as in `rows[id: 1] = Todo(id: 2)`, stops the program.
  @inlinable
  public subscript(id id: Row.ID) -> Row? {
    get { positions[id].map { rows[$0] } }
    _modify {
      let position = positions[id]
      var row: Row?
      if let position { row = takeOut(at: position) }
      defer { putBack(row, id, at: position) }
      yield &row
    }
  }

  /// The last row takes its place meanwhile, so that nobody else keeps the row while it is changed.
  @inlinable
  mutating func takeOut(at position: Int) -> Row {
    rows.swapAt(position, rows.count - 1)
    return rows.removeLast()
  }

  @inlinable
  mutating func putBack(_ row: consuming Row?, _ id: Row.ID, at position: Int?) {
    guard let row else {
      if let position { forget(id, at: position) }
      return
    }
    if row.id != id { refuse(row.id, insteadOf: id) }
    rows.append(row)
    if let position {
      rows.swapAt(position, rows.count - 1)
      log.note(id, among: rows.count)
    } else {
      positions[id] = rows.count - 1
      noteStructure(id)
    }
  }

  /// Forgets a row that was taken out.
  @inlinable
  mutating func forget(_ id: Row.ID, at position: Int) {
    if position < rows.count { rows.append(rows.remove(at: position)) }
    positions[id] = nil
    countAgain(from: position)
    noteStructure(id)
  }

  @inlinable
  mutating func countAgain(from start: Int, to end: Int? = nil) {
    for position in start..<(end ?? rows.count) { positions[rows[position].id] = position }
  }

  @inlinable
  mutating func noteStructure(_ id: Row.ID) {
    log.note(id, among: rows.count)
    structureStamp = log.latest
  }

  @usableFromInline
  func refuse(_ id: Row.ID, insteadOf old: Row.ID) -> Never {
    misuse(
      "A row of Rows was given another id, \(id) instead of \(old). Remove the row, and append or "
        + "insert one with the other id.")
  }
}

// What a list that tells its rows asks.
extension Rows {
  /// Has another value after each change.
  @inlinable
  var stamp: RowsStamp { log.latest }

  /// The ids of the rows that were changed, added, removed or moved since the stamp, each once.
  ///
  /// `nil` if they cannot be told from all others: the stamp is one of other rows or of an undone change,
  /// or there were more changes than max(64, n/8). Rows that only stand elsewhere because of others are
  /// not among them.
  @inlinable
  func ids(changedSince stamp: RowsStamp) -> [Row.ID]? {
    log.ids(since: stamp, among: rows.count)
  }
}
