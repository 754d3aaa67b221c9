/// A sequence in which access, insertion, and removal at a position are O(log n).
///
/// A B+ tree with counts. Copies share nodes: a change copies the nodes of one path if another copy
/// uses them, and no node otherwise.
@usableFromInline
struct PositionTree<Element: Sendable, Summary: Sendable>: Sendable {
  @usableFromInline typealias Node = PositionNode<Element, Summary>

  @usableFromInline var root: Node
  @usableFromInline private(set) var count: Int

  @inlinable
  init() {
    root = Node(elements: [])
    count = 0
  }

  /// Builds full nodes in O(n).
  @inlinable
  init(_ elements: some Sequence<Element>) {
    var nodes: [Node] = []
    var total = 0
    var leaf: [Element] = []
    leaf.reserveCapacity(Node.limit.elements)
    for element in elements {
      if leaf.count == Node.limit.elements {
        nodes.append(Node(elements: leaf))
        leaf = []
        leaf.reserveCapacity(Node.limit.elements)
      }
      leaf.append(element)
      total += 1
    }
    if !leaf.isEmpty || nodes.isEmpty { nodes.append(Node(elements: leaf)) }
    while nodes.count > 1 {
      nodes = stride(from: 0, to: nodes.count, by: Node.limit.children).map {
        Node(children: Array(nodes[$0..<Swift.min($0 + Node.limit.children, nodes.count)]))
      }
    }
    root = nodes[0]
    count = total
  }

  @inlinable
  subscript(position: Int) -> Element {
    get {
      let (leaf, offset) = leaf(at: position)
      return leaf.elements[offset]
    }
    set {
      ownRoot()
      root.replace(at: position, by: newValue)
    }
  }

  /// Returns the leaf with a position, and the offset in it.
  @inlinable
  func leaf(at position: Int) -> (Node, Int) {
    var (node, position) = (root, position)
    while !node.isLeaf { node = node.children[node.child(at: &position)] }
    return (node, position)
  }

  @inlinable
  mutating func insert(_ element: Element, at position: Int) {
    ownRoot()
    count += 1
    if let half = root.insert(element, at: position) { root = Node(children: [root, half]) }
  }

  @inlinable @discardableResult
  mutating func remove(at position: Int) -> Element {
    ownRoot()
    count -= 1
    let removed = root.remove(at: position)
    while root.children.count == 1 { root = root.children[0] }
    if count == 0 { root = Node(elements: []) }
    return removed
  }

  @inlinable
  mutating func ownRoot() {
    if !isKnownUniquelyReferenced(&root) { root = root.copy() }
  }

  /// Returns the first position whose element satisfies a predicate that holds from there on.
  @inlinable
  func partition(_ isBehind: (Element) -> Bool) -> Int {
    count == 0 ? 0 : root.partition(isBehind)
  }

  /// Applies a change whose new elements come from a closure over their positions.
  @inlinable
  mutating func apply(_ change: LiveChange, _ element: (Int) -> Element) {
    for position in change.removals.reversed() { remove(at: position) }
    for insertion in change.insertions { insert(element(insertion.at), at: insertion.at) }
    for position in change.updates { self[position] = element(position) }
  }
}

extension PositionTree: Sequence {
  @inlinable
  func makeIterator() -> PositionIterator<Element, Summary> { PositionIterator(tree: self) }

  @inlinable var underestimatedCount: Int { count }
}

/// Visits the leaves in order.
@usableFromInline
struct PositionIterator<Element: Sendable, Summary: Sendable>: IteratorProtocol {
  @usableFromInline let tree: PositionTree<Element, Summary>
  @usableFromInline var position = 0
  @usableFromInline var leaf: ArraySlice<Element> = []

  @inlinable
  init(tree: PositionTree<Element, Summary>) { self.tree = tree }

  @inlinable
  mutating func next() -> Element? {
    if leaf.isEmpty {
      if position == tree.count { return nil }
      leaf = tree.leaf(at: position).0.elements[...]
      position += leaf.count
    }
    return leaf.removeFirst()
  }
}
