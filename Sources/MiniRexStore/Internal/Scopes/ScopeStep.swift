import MiniRex

/// The step from a parent to a child.
@usableFromInline
protocol ScopeStep<Outer, Child>: Sendable {
  associatedtype Outer
  associatedtype Child

  /// `false` if the child is removable.
  var isAlways: Bool { get }

  func read(_ outer: Outer) -> Child?

  /// Returns the location of the child.
  ///
  /// Needs exclusive access.
  func place<Root: Sendable>(
    in outer: ChildPath<Root, Outer>, _ root: PresenceTable<Root>
  ) -> ChildPath<Root, Child>

  /// Provides the concrete types for publishing to the child.
  ///
  /// Needs exclusive access.
  func prepare<Root: Sendable, RootAction: Sendable>(
    _ place: ChildPath<Root, Child>, for storage: StoreStorage<Root, RootAction>.Type)
}

extension ScopeStep {
  @inlinable
  func prepare<Root: Sendable, RootAction: Sendable>(
    _ place: ChildPath<Root, Child>, for storage: StoreStorage<Root, RootAction>.Type
  ) {}

  /// The action of a plain `.send` of the child, if the child is present.
  @usableFromInline
  func action<Parent, Action>(of effect: Effect<Action>, in parent: Parent) -> Action? {
    (parent as? Outer).flatMap(read).flatMap { effect.action(in: $0) }
  }

  /// Returns the location of the child of an effect, which does not know the types of its store.
  func place<Root: Sendable>(
    inAny outer: any AnyPlace, _ root: PresenceTable<Root>
  ) -> any AnyPlace {
    guard let outer = outer as? ChildPath<Root, Outer> else {
      misuse(
        "'map' does not record the path of a child, but an effect in it belongs to a removable child. "
          + "Use '.reduce(&state, \\.child, action, by: child) { .child($0) }' instead of "
          + "'child(&state.child, action).map { .child($0) }'.")
    }
    return place(in: outer, root)
  }
}

/// The step to a child that is always present.
@usableFromInline
struct PathStep<Outer, Child>: ScopeStep {
  @usableFromInline let path: any WritableKeyPath<Outer, Child> & Sendable

  @inlinable
  init(path: any WritableKeyPath<Outer, Child> & Sendable) { self.path = path }

  @inlinable var isAlways: Bool { true }

  @inlinable
  func read(_ outer: Outer) -> Child? { outer[keyPath: path] }

  @inlinable
  func place<Root: Sendable>(
    in outer: ChildPath<Root, Outer>, _ root: PresenceTable<Root>
  ) -> ChildPath<Root, Child> {
    let (path, read) = (path, outer.read)
    let key = outer.key(of: path)
    if let start = outer.offset, let offset = MemoryLayout<Outer>.offset(of: path) {
      return ChildPath(outer.appending(path), in: outer.child, key, at: start + offset) { root in
        unsafe withUnsafePointer(to: root) { root in
          unsafe UnsafeRawPointer(root).load(fromByteOffset: start + offset, as: Child.self)
        }
      }
    }
    return ChildPath(outer.appending(path), in: outer.child, key) { read($0)?[keyPath: path] }
  }
}

/// The step to an optional child.
@usableFromInline
struct OptionalStep<Outer, Child>: ScopeStep {
  @usableFromInline let path: any WritableKeyPath<Outer, Child?> & Sendable

  @inlinable
  init(path: any WritableKeyPath<Outer, Child?> & Sendable) { self.path = path }

  @inlinable var isAlways: Bool { false }

  @inlinable
  func read(_ outer: Outer) -> Child? { outer[keyPath: path] }

  @inlinable
  func place<Root: Sendable>(
    in outer: ChildPath<Root, Outer>, _ root: PresenceTable<Root>
  ) -> ChildPath<Root, Child> {
    let (path, read) = (path, outer.read)
    let (table, key) = (outer.table(in: root), outer.key(of: path))
    if let node = table.node(at: key) as? OptionalPresence<Root, Child> { return node.place }
    let child = PresenceIn<Root>(in: outer.child)
    let place = ChildPath(outer.appending(path).appending(path: \Child?.!), in: child, nil) {
      read($0)?[keyPath: path]
    }
    table.add(OptionalPresence(place, child, key))
    return place
  }
}
