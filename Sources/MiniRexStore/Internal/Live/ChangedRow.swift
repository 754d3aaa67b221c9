/// The row that the last change of a stage has updated, inserted, or moved, if it is one row.
///
/// The next stages read it without a search. Serial, as its stage.
@usableFromInline
final class ChangedRow<Row> {
  @usableFromInline @safe @exclusivity(unchecked) var position = 0
  @usableFromInline @safe @exclusivity(unchecked) var row: Row?

  @inlinable
  init() {}

  @inlinable
  func set(_ row: Row, at position: Int) {
    self.position = position
    self.row = row
  }

  /// Follows the changed row of the previous stage, which has the same rows.
  @inlinable
  func follow(_ previous: ChangedRow, _ change: LiveChange) {
    row = nil
    guard let row = previous.row, change.count == 1 else { return }
    if let position = change.updates.first ?? change.insertions.first?.at { set(row, at: position) }
  }

  @inlinable
  func row(at position: Int) -> Row? { position == self.position ? row : nil }
}
