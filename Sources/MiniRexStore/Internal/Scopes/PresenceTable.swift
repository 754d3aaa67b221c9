/// The removable children of one state or of one removable child, used with exclusive access.
@usableFromInline
final class PresenceTable<Root: Sendable> {
  /// One node for each member in use, so usually a handful.
  @usableFromInline private(set) var nodes: [PresenceNode<Root>] = []
  /// The removable child that contains them, which stays in use as long as they are.
  weak var owner: Presence?

  init() {}

  @usableFromInline
  func node(at key: AnyKeyPath) -> PresenceNode<Root>? {
    nodes.first { $0.key == key }
  }

  @usableFromInline
  func add(_ node: PresenceNode<Root>) {
    node.table = self
    nodes.append(node)
  }

  @usableFromInline
  func remove(_ node: PresenceNode<Root>) {
    nodes.removeAll { $0 === node }
    if nodes.isEmpty { owner?.leaveIfUnused() }
  }

  /// Ends the presences of the children that a commit has removed.
  ///
  /// - Parameters:
  ///   - number: The number of the commit.
  ///   - orphans: Receives the effects of removed children.
  @inlinable
  func check(_ root: Root, _ number: Int, _ orphans: inout [RunningEffect]) {
    var gone: [PresenceNode<Root>] = []
    for node in nodes where !node.check(node, root, number, &orphans) { gone.append(node) }
    for node in gone { remove(node) }
  }

  /// Removes everything, because the containing child was removed.
  func go(_ number: Int, _ orphans: inout [RunningEffect]) {
    for node in nodes { node.go(number, &orphans) }
    nodes = []
  }
}

/// The removable child or the rows at one key path.
@usableFromInline
class PresenceNode<Root: Sendable> {
  @usableFromInline typealias Check = (
    PresenceNode<Root>, Root, _ number: Int, _ orphans: inout [RunningEffect]
  ) -> Bool

  /// The key path from the enclosing removable child.
  final let key: AnyKeyPath
  /// Finds the removed children of the node.
  ///
  /// Returns `false` if the node is empty afterward.
  ///
  /// A closure, because an override in a generic class is never specialized.
  @usableFromInline final let check: Check
  final weak var table: PresenceTable<Root>?

  @usableFromInline
  init(_ key: AnyKeyPath, check: @escaping Check) {
    self.key = key
    self.check = check
  }

  /// Removes everything.
  func go(_ number: Int, _ orphans: inout [RunningEffect]) {}

  func remove(_ entry: Presence) {}
}

/// An optional child that is not `nil`.
@usableFromInline
final class OptionalPresence<Root: Sendable, Child>: PresenceNode<Root> {
  @usableFromInline let place: ChildPath<Root, Child>
  @usableFromInline let entry: PresenceIn<Root>

  @inlinable
  init(_ place: ChildPath<Root, Child>, _ entry: PresenceIn<Root>, _ key: AnyKeyPath) {
    self.place = place
    self.entry = entry
    super.init(key) { node, root, number, orphans in
      unsafe unsafeDowncast(node, to: OptionalPresence.self).check(root, number, &orphans)
    }
    entry.node = self
  }

  @inlinable
  func check(_ root: Root, _ number: Int, _ orphans: inout [RunningEffect]) -> Bool {
    guard place.read(root) != nil else {
      entry.go(number, &orphans)
      return false
    }
    entry.children?.check(root, number, &orphans)
    return true
  }

  override func go(_ number: Int, _ orphans: inout [RunningEffect]) { entry.go(number, &orphans) }

  override func remove(_ entry: Presence) { table?.remove(self) }
}
