import MiniRex

/// The way from a part to one in it.
@usableFromInline
protocol PartStep<Outer, Part>: Sendable {
  associatedtype Outer
  associatedtype Part

  /// False if the part may go.
  var isAlways: Bool { get }

  func read(_ outer: Outer) -> Part?

  /// Has exclusive access.
  func place<Root: Sendable>(
    in outer: PartPlace<Root, Outer>, _ root: PartTable<Root>
  ) -> PartPlace<Root, Part>

  /// Says by which types the part will be told; has exclusive access.
  func prepare<Root: Sendable, RootAction: Sendable>(
    _ place: PartPlace<Root, Part>, for storage: StoreStorage<Root, RootAction>.Type)
}

extension PartStep {
  @inlinable
  func prepare<Root: Sendable, RootAction: Sendable>(
    _ place: PartPlace<Root, Part>, for storage: StoreStorage<Root, RootAction>.Type
  ) {}

  /// The step of an effect, which does not know in which store it will be.
  func place<Root: Sendable>(inAny outer: AnyPlace, _ root: PartTable<Root>) -> AnyPlace {
    guard let outer = outer as? PartPlace<Root, Outer> else {
      misuse(
        "'map' was called on the effects of a part that may go, and does not say where they belong. "
          + "Use '.reduce(&state, \\.child, action, by: child) { .child($0) }' instead of "
          + "'child(&state.child, action).map { .child($0) }'.")
    }
    return place(in: outer, root)
  }
}

/// To a part that is always there.
@usableFromInline
struct PathStep<Outer, Part>: PartStep {
  @usableFromInline let path: any WritableKeyPath<Outer, Part> & Sendable

  @inlinable
  init(path: any WritableKeyPath<Outer, Part> & Sendable) { self.path = path }

  @inlinable var isAlways: Bool { true }

  @inlinable
  func read(_ outer: Outer) -> Part? { outer[keyPath: path] }

  @inlinable
  func place<Root: Sendable>(
    in outer: PartPlace<Root, Outer>, _ root: PartTable<Root>
  ) -> PartPlace<Root, Part> {
    let (path, read) = (path, outer.read)
    let key = outer.key(of: path)
    if let start = outer.offset, let offset = MemoryLayout<Outer>.offset(of: path) {
      return PartPlace(outer.appending(path), in: outer.part, key, at: start + offset) { root in
        unsafe withUnsafePointer(to: root) { root in
          unsafe UnsafeRawPointer(root).load(fromByteOffset: start + offset, as: Part.self)
        }
      }
    }
    return PartPlace(outer.appending(path), in: outer.part, key) { read($0)?[keyPath: path] }
  }
}

/// To a part that may be `nil`.
@usableFromInline
struct OptionalStep<Outer, Part>: PartStep {
  @usableFromInline let path: any WritableKeyPath<Outer, Part?> & Sendable

  @inlinable
  init(path: any WritableKeyPath<Outer, Part?> & Sendable) { self.path = path }

  @inlinable var isAlways: Bool { false }

  @inlinable
  func read(_ outer: Outer) -> Part? { outer[keyPath: path] }

  @inlinable
  func place<Root: Sendable>(
    in outer: PartPlace<Root, Outer>, _ root: PartTable<Root>
  ) -> PartPlace<Root, Part> {
    let (path, read) = (path, outer.read)
    let (table, key) = (outer.table(in: root), outer.key(of: path))
    if let node = table.node(at: key) as? OptionalNode<Root, Part> { return node.place }
    let part = PartOfRoot<Root>(in: outer.part)
    let place = PartPlace(outer.appending(path).appending(path: \Part?.!), in: part, nil) {
      read($0)?[keyPath: path]
    }
    table.add(OptionalNode(place, part, key))
    return place
  }
}
