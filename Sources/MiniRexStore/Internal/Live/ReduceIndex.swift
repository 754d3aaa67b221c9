/// The values of the rows, with the combinations of each node of their tree.
struct ReduceIndex<Row: Identifiable & Sendable, Value: Sendable> where Row.ID: Sendable {
  private(set) var values = PositionTree<Value, Value>()
  private(set) var isEmpty = true
  private let value: @Sendable (Row) -> Value

  init(_ value: @escaping @Sendable (Row) -> Value) { self.value = value }

  mutating func apply(_ update: RowsUpdate<Row>) {
    isEmpty = false
    switch update {
    case .all(let rows): values = PositionTree(rows.lazy.map(value))
    case .changes(let changes):
      for position in changes.compactMap(\.oldPosition).sorted(by: >) {
        values.remove(at: position)
      }
      for change in changes {
        switch change {
        case .removed: break
        case .inserted(let row, let position), .moved(let row, _, let position):
          values.insert(value(row), at: position)
        case .updated(let row, let position): values[position] = value(row)
        }
      }
    }
  }
}
