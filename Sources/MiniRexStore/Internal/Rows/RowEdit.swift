/// One change of one row, with positions at the time of the change.
///
/// Without positions, the row was changed in place. With `from`, it was taken out. With `to`, it was
/// put in.
@usableFromInline
struct RowEdit<ID: Hashable & Sendable>: Sendable {
  @usableFromInline let id: ID
  /// The position in `from`, with -1 for `nil`, so that an edit is small.
  @usableFromInline let taken: Int
  @usableFromInline let put: Int

  @inlinable
  init(_ id: ID, from: Int = -1, to: Int = -1) {
    self.id = id
    taken = from
    put = to
  }

  @inlinable var from: Int? { taken < 0 ? nil : taken }
  @inlinable var to: Int? { put < 0 ? nil : put }
  @inlinable var isStructural: Bool { taken >= 0 || put >= 0 }
}
