/// Parts of one state, or of one part, that may go.
///
/// Unchecked: guarded by exclusive access to the store.
@usableFromInline
final class PartTable<Root: Sendable>: @unchecked Sendable {
  /// A handful, one for each member that somebody has asked for.
  @usableFromInline private(set) var nodes: [PartNode<Root>] = []
  /// The part that they are in, which is looked for as long as they are.
  weak var owner: PartEntry?

  init() {}

  @usableFromInline
  func node(at key: AnyKeyPath) -> PartNode<Root>? {
    nodes.first { $0.key == key }
  }

  @usableFromInline
  func add(_ node: PartNode<Root>) {
    node.table = self
    nodes.append(node)
  }

  @usableFromInline
  func remove(_ node: PartNode<Root>) {
    nodes.removeAll { $0 === node }
    if nodes.isEmpty { owner?.leaveIfUnused() }
  }

  /// - Parameters:
  ///   - number: That of the commit.
  ///   - orphans: The effects of what has gone.
  @inlinable
  func check(_ root: Root, _ number: Int, _ orphans: inout [RunningEffect]) {
    var gone: [PartNode<Root>] = []
    for node in nodes where !node.check(node, root, number, &orphans) { gone.append(node) }
    for node in gone { remove(node) }
  }

  /// The part that they are in has gone.
  func go(_ number: Int, _ orphans: inout [RunningEffect]) {
    for node in nodes { node.go(number, &orphans) }
    nodes = []
  }
}

/// What is looked for under one key path: a part, or the rows of a list.
///
/// Unchecked: guarded by exclusive access to the store.
@usableFromInline
class PartNode<Root: Sendable>: @unchecked Sendable {
  @usableFromInline typealias Check = (
    PartNode<Root>, Root, _ number: Int, _ orphans: inout [RunningEffect]
  ) -> Bool

  /// Where it lies in the part around it.
  final let key: AnyKeyPath
  /// Finds what has gone of the node; false if nothing is left to be looked for.
  ///
  /// A closure, because an override is never compiled for the types that it has.
  @usableFromInline final let check: Check
  final weak var table: PartTable<Root>?

  @usableFromInline
  init(_ key: AnyKeyPath, check: @escaping Check) {
    self.key = key
    self.check = check
  }

  /// All of it goes.
  func go(_ number: Int, _ orphans: inout [RunningEffect]) {}

  func remove(_ entry: PartEntry) {}
}

/// An optional part while it is not `nil`.
@usableFromInline
final class OptionalNode<Root: Sendable, Part>: PartNode<Root>, @unchecked Sendable {
  @usableFromInline let place: PartPlace<Root, Part>
  @usableFromInline let entry: PartOfRoot<Root>

  @inlinable
  init(_ place: PartPlace<Root, Part>, _ entry: PartOfRoot<Root>, _ key: AnyKeyPath) {
    self.place = place
    self.entry = entry
    super.init(key) { node, root, number, orphans in
      unsafe unsafeDowncast(node, to: OptionalNode.self).check(root, number, &orphans)
    }
    entry.node = self
  }

  @inlinable
  func check(_ root: Root, _ number: Int, _ orphans: inout [RunningEffect]) -> Bool {
    guard place.read(root) != nil else {
      entry.go(number, &orphans)
      return false
    }
    entry.parts?.check(root, number, &orphans)
    return true
  }

  override func go(_ number: Int, _ orphans: inout [RunningEffect]) { entry.go(number, &orphans) }

  override func remove(_ entry: PartEntry) { table?.remove(self) }
}
