public import MiniRex

/// A sequence in which access, insertion, and removal at a position are O(log n).
///
/// A B+ tree with counts. Copies share nodes: a change copies the nodes of one path if another copy
/// uses them, and no node otherwise.
@usableFromInline @safe
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
    get { withLeaf(at: position) { leaf, offset in leaf.elements[offset] } }
    set {
      ownRoot()
      root.replace(at: position, by: newValue)
    }
  }

  /// Returns the leaf with a position, and the offset in it.
  @inlinable
  func leaf(at position: Int) -> (Node, Int) { withLeaf(at: position) { ($0, $1) } }

  /// Calls a closure with the leaf with a position, and the offset in it.
  ///
  /// The path is walked without reference counts. The tree retains its nodes, and a search changes
  /// none.
  @inlinable @inline(__always)
  func withLeaf<Result>(at position: Int, _ body: (Node, Int) -> Result) -> Result {
    var position = position
    var node = UnretainedReference(root)
    while let child = node.use({ node in
      node.isLeaf
        ? nil : UnretainedReference(node.children[node.child(at: &position)])
    }) { node = child }
    return node.use { body($0, position) }
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
  func partition(_ isBehind: (Element) -> Bool) -> Int { search(isBehind).position }

  /// Returns the same position with its element, which is `nil` at the end.
  @inlinable
  func search(_ isBehind: (Element) -> Bool) -> (position: Int, element: Element?) {
    var front = 0
    var next: Element?
    var node = UnretainedReference(root)
    while let child = node.use({ node in
      if node.isLeaf { return UnretainedReference<Node>?.none }
      // The last child whose first element is in front.
      let behind = node.elements.partition(isBehind)
      if behind < node.elements.count { next = node.elements[behind] }
      let child = Swift.max(0, behind - 1)
      for offset in 0..<child { front += node.counts[offset] }
      return UnretainedReference(node.children[child])
    }) { node = child }
    return node.use { leaf in
      let offset = leaf.elements.partition(isBehind)
      let element = offset < leaf.elements.count ? leaf.elements[offset] : next
      return (front + offset, element)
    }
  }

  /// Returns the elements before and behind a position.
  @inlinable
  func neighbors(of position: Int) -> (before: Element?, behind: Element?) {
    let (before, behind) = withLeaf(at: position) { leaf, offset in
      (
        offset > 0 ? leaf.elements[offset - 1] : nil,
        offset + 1 < leaf.elements.count ? leaf.elements[offset + 1] : nil
      )
    }
    return (
      before ?? (position > 0 ? self[position - 1] : nil),
      behind ?? (position + 1 < count ? self[position + 1] : nil)
    )
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
      leaf = tree.withLeaf(at: position) { leaf, _ in leaf.elements[...] }
      position += leaf.count
    }
    return leaf.removeFirst()
  }
}
