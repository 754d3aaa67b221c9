extension LiveChange {
  /// Combines successive edits of rows, or returns `nil` if they are too many to combine.
  ///
  /// The cost depends on the number of edits, not on the number of rows.
  ///
  /// - Parameters:
  ///   - edits: The edits, from the oldest to the newest.
  ///   - count: The number of rows before the edits.
  ///   - position: Returns the position of a row after the edits.
  @inlinable
  init?<ID: Hashable & Sendable>(
    _ edits: [RowEdit<ID>], among count: Int, _ position: (ID) -> Int?
  ) {
    self.init()
    if edits.allSatisfy({ !$0.isStructural }) {
      updates = edits.count == 1 ? [position(edits[0].id) ?? 0] : sortedUpdates(edits, position)
      return
    }
    if edits.count > 1_024 { return nil }
    var pieces = EditedPieces<ID>(count: count)
    var origins: [ID: Int] = [:]
    for edit in edits where edit.isStructural {
      if let from = edit.from, let origin = pieces.remove(at: from) { origins[edit.id] = origin }
      if let to = edit.to { pieces.insert(edit.id, at: to) }
    }
    insertions = pieces.inserted.map { Insertion(at: $0.position, from: origins[$0.id]) }
    removals = origins.values.sorted()
    let inserted = Set(pieces.inserted.map(\.id))
    updates = sortedUpdates(edits.filter { !inserted.contains($0.id) }, position)
    // A row that was taken out may have been put back.
    simplify()
  }

  @inlinable
  func sortedUpdates<ID>(_ edits: [RowEdit<ID>], _ position: (ID) -> Int?) -> [Int] {
    Set(edits.compactMap { $0.isStructural ? nil : position($0.id) }).sorted()
  }
}

/// The runs of old rows that remain, and the rows between them that were inserted.
@usableFromInline
struct EditedPieces<ID: Hashable & Sendable> {
  /// A run of old rows, or one inserted row, for which `id` is not `nil`.
  @usableFromInline
  struct Piece {
    @usableFromInline var start: Int
    @usableFromInline var count: Int
    @usableFromInline let id: ID?

    @inlinable
    init(start: Int, count: Int, id: ID?) {
      self.start = start
      self.count = count
      self.id = id
    }
  }

  @usableFromInline var pieces: [Piece]

  @inlinable
  init(count: Int) { pieces = [Piece(start: 0, count: count, id: nil)] }

  /// Returns the piece with the position, and the offset in it.
  @inlinable
  func find(_ position: Int) -> (piece: Int, offset: Int) {
    var (piece, offset) = (0, position)
    while piece < pieces.count, offset >= pieces[piece].count {
      offset -= pieces[piece].count
      piece += 1
    }
    return (piece, offset)
  }

  /// Records the removal of a row.
  ///
  /// - Returns: The old position of the removed row, or `nil` if it was inserted.
  @inlinable
  mutating func remove(at position: Int) -> Int? {
    let (index, offset) = find(position)
    let piece = pieces[index]
    let behind = piece.count - offset - 1
    pieces[index].count = offset
    if behind > 0 {
      let rest = Piece(start: piece.start + offset + 1, count: behind, id: nil)
      pieces.insert(rest, at: index + 1)
    }
    if offset == 0 { pieces.remove(at: index) }
    return piece.id == nil ? piece.start + offset : nil
  }

  @inlinable
  mutating func insert(_ id: ID, at position: Int) {
    var (index, offset) = find(position)
    if offset > 0 {
      let rest = Piece(
        start: pieces[index].start + offset, count: pieces[index].count - offset, id: nil)
      pieces[index].count = offset
      index += 1
      pieces.insert(rest, at: index)
    }
    pieces.insert(Piece(start: 0, count: 1, id: id), at: index)
  }

  /// The inserted rows with their positions.
  @inlinable
  var inserted: [(id: ID, position: Int)] {
    var (inserted, position): ([(id: ID, position: Int)], Int) = ([], 0)
    for piece in pieces {
      if let id = piece.id { inserted.append((id, position)) }
      position += piece.count
    }
    return inserted
  }
}
