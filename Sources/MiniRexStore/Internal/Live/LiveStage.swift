/// One operator in one run of a live query: closures over its index.
///
/// Serial: only the thread that delivers to the run uses it. `row` and `count` describe the list
/// after the last `apply`.
@usableFromInline
struct LiveStage<Row: Identifiable & Sendable> {
  /// Brings the index up to date with the inputs.
  @usableFromInline let apply: (LiveInput) -> LiveChange
  @usableFromInline let count: () -> Int
  @usableFromInline let row: (_ position: Int) -> Row
  /// The rows, if the operator stores them anyway.
  @usableFromInline let tree: (() -> RowTree<Row>)?

  @inlinable
  init(
    apply: @escaping (LiveInput) -> LiveChange, count: @escaping () -> Int,
    row: @escaping (_ position: Int) -> Row, tree: (() -> RowTree<Row>)? = nil
  ) {
    self.apply = apply
    self.count = count
    self.row = row
    self.tree = tree
  }

  /// Returns the rows by position.
  @inlinable
  var rows: some Sequence<Row> { (0..<count()).lazy.map(row) }
}

/// The rows of a live query.
@usableFromInline typealias RowTree<Row: Sendable> = PositionTree<Row, Never>

/// The newest values of the sources of a live query.
///
/// One object is one combination of values, so that a stage recognizes a source that has not
/// changed. Its class belongs to the stage that reads it.
@usableFromInline
class LiveInput: @unchecked Sendable {
  /// The version of the rows, if they are the only source of the query.
  let version: RowsStamp?

  init(version: RowsStamp? = nil) { self.version = version }
}

/// Rows, which the first stage takes.
///
/// A reference to the rows would make the next change copy them. Unchecked: only one run receives
/// the object, in the order of its deliveries.
final class RowsInput<Row: Identifiable & Sendable>: LiveInput, @unchecked Sendable
where Row.ID: Sendable {
  private var rows: Rows<Row>?

  init(_ rows: Rows<Row>) {
    self.rows = rows
    super.init(version: rows.stamp)
  }

  func take() -> Rows<Row>? { rows.take() }
}

/// The parameter of a query.
final class ParameterInput<Value: Sendable>: LiveInput, @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}

/// The inputs of a stage with two sources.
final class PairInput: LiveInput, @unchecked Sendable {
  let one: LiveInput
  let other: LiveInput

  init(_ one: LiveInput, _ other: LiveInput) {
    self.one = one
    self.other = other
  }
}
