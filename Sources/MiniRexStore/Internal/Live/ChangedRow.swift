/// The row that the last change of a stage has updated, inserted, or moved, if it is one row.
///
/// The next stages read it without a search. Serial, as its stage.
@usableFromInline
final class ChangedRow<Row> {
  @usableFromInline @exclusivity(unchecked) var position = 0
  @usableFromInline @exclusivity(unchecked) var row: Row?

  @inlinable
  init() {}

  @inlinable
  func set(_ row: Row, at position: Int) {
    unsafe self.position = position
    unsafe self.row = row
  }

  /// Follows the changed row of the previous stage, which has the same rows.
  @inlinable
  func follow(_ previous: ChangedRow, _ change: LiveChange) {
    unsafe row = nil
    guard let row = unsafe previous.row, change.count == 1 else { return }
    if let position = change.updates.first ?? change.insertions.first?.at { set(row, at: position) }
  }

  @inlinable
  func row(at position: Int) -> Row? { unsafe position == self.position ? row : nil }
}
