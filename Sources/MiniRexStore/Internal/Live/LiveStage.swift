/// One operator in one run of a live query: closures over its index.
///
/// Serial: only the thread that delivers to the run uses it. `row` and `count` describe the list
/// after the last `apply`.
@usableFromInline
struct LiveStage<Row: Identifiable & Sendable> {
  /// Brings the index up to date with the inputs.
  @usableFromInline let apply: (any LiveInput) -> LiveChange
  @usableFromInline let count: () -> Int
  @usableFromInline let row: (_ position: Int) -> Row
  /// The rows, if the operator stores them anyway.
  @usableFromInline let tree: (() -> RowTree<Row>)?
  @usableFromInline let changed: ChangedRow<Row>

  @inlinable
  init(
    apply: @escaping (any LiveInput) -> LiveChange, count: @escaping () -> Int,
    row: @escaping (_ position: Int) -> Row, tree: (() -> RowTree<Row>)? = nil,
    changed: ChangedRow<Row> = ChangedRow()
  ) {
    self.apply = apply
    self.count = count
    self.row = row
    self.tree = tree
    self.changed = changed
  }

  /// Creates a stage that has some or all rows of another stage, maybe in another order.
  @inlinable
  init(
    of source: LiveStage, apply: @escaping (any LiveInput) -> LiveChange,
    count: @escaping () -> Int,
    sourcePosition: @escaping (_ position: Int) -> Int
  ) {
    let changed = ChangedRow<Row>()
    self.init(
      apply: { input in
        let change = apply(input)
        changed.follow(source.changed, change)
        return change
      },
      count: count, row: { changed.row(at: $0) ?? source.row(sourcePosition($0)) },
      changed: changed)
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
protocol LiveInput: AnyObject, Sendable {
  /// The version of the rows, if they are the only source of the query.
  var version: RowsStamp? { get }
}

extension LiveInput {
  @usableFromInline var version: RowsStamp? { nil }
}

/// Rows, which the first stage takes.
///
/// A reference to the rows would make the next change copy them. Unchecked: only one run receives
/// the object, in the order of its deliveries.
@usableFromInline
final class RowsInput<Row: Identifiable & Sendable>: LiveInput, @unchecked Sendable
where Row.ID: Sendable {
  @usableFromInline let version: RowsStamp?
  @usableFromInline @safe @exclusivity(unchecked) var rows: Rows<Row>?

  @inlinable
  init(_ rows: Rows<Row>) {
    self.rows = rows
    version = rows.stamp
  }

  @inlinable
  func take() -> Rows<Row>? { rows.take() }
}

/// The parameter of a query.
@usableFromInline
final class ParameterInput<Value: Sendable>: LiveInput {
  @usableFromInline let value: Value

  @inlinable
  init(_ value: Value) {
    self.value = value
  }
}

/// The inputs of a stage with two sources.
@usableFromInline
final class PairInput: LiveInput {
  @usableFromInline let one: any LiveInput
  @usableFromInline let other: any LiveInput

  @usableFromInline
  init(_ one: any LiveInput, _ other: any LiveInput) {
    self.one = one
    self.other = other
  }
}
