/// The step from a parent to a row.
@usableFromInline
struct RowStep<Outer, Row: Identifiable & Sendable>: ScopeStep where Row.ID: Sendable {
  @usableFromInline let path: any WritableKeyPath<Outer, Rows<Row>> & Sendable
  @usableFromInline let id: Row.ID

  @inlinable
  init(path: any WritableKeyPath<Outer, Rows<Row>> & Sendable, id: Row.ID) {
    self.path = path
    self.id = id
  }

  @inlinable var isAlways: Bool { false }

  @inlinable
  func read(_ outer: Outer) -> Row? { outer[keyPath: path][id: id] }

  @inlinable
  func place<Root: Sendable>(
    in outer: ChildPath<Root, Outer>, _ root: PresenceTable<Root>
  ) -> ChildPath<Root, Row> {
    let (table, key) = (outer.table(in: root), outer.key(of: path))
    if let node = table.node(at: key) as? RowsNode<Root, Row> { return node.place(id) }
    let list = PathStep(path: path).place(in: outer, root)
    let node = RowsNode<Root, Row>(list, key)
    table.add(node)
    return node.place(id)
  }

  @inlinable
  func prepare<Root: Sendable, RootAction: Sendable>(
    _ place: ChildPath<Root, Row>, for storage: StoreStorage<Root, RootAction>.Type
  ) {
    guard let node = place.child?.node as? RowsNode<Root, Row> else { return }
    node.makeDelivery = { storage, node in
      RowsDelivery(
        of: unsafe unsafeDowncast(storage, to: StoreStorage<Root, RootAction>.self),
        unsafe unsafeDowncast(node, to: RowsNode<Root, Row>.self))
    }
  }
}
