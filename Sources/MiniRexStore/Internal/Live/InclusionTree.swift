import MiniRex

/// The included and the excluded positions of a list.
///
/// A B+ tree, in which the number of included positions in front of a position, and the included
/// position of a rank, are O(log n). A row takes a byte, and each subtree counts its included rows,
/// which a `PositionNode` does not.
@safe
struct InclusionTree {
  private var root: InclusionNode
  private(set) var count: Int
  private(set) var includedCount: Int

  /// Builds full nodes in O(n).
  init(count: Int, _ isIncluded: (Int) -> Bool) {
    var nodes = stride(from: 0, to: count, by: InclusionNode.limit.flags).map { start in
      let end = min(start + InclusionNode.limit.flags, count)
      return InclusionNode(flags: (start..<end).map { isIncluded($0) ? 1 : 0 })
    }
    if nodes.isEmpty { nodes.append(InclusionNode(flags: [])) }
    while nodes.count > 1 {
      nodes = stride(from: 0, to: nodes.count, by: InclusionNode.limit.children).map { start in
        let end = min(start + InclusionNode.limit.children, nodes.count)
        return InclusionNode(children: Array(nodes[start..<end]))
      }
    }
    root = nodes[0]
    self.count = count
    includedCount = root.size.included
  }

  /// Returns whether a position is included, and the number of included positions in front of it.
  func find(_ position: Int) -> (isIncluded: Bool, rank: Int) {
    var (position, rank) = (position, 0)
    var node = UnretainedReference(root)
    while let child = node.use({ node in
      node.isLeaf
        ? nil : UnretainedReference(node.children[node.child(at: &position, &rank)])
    }) { node = child }
    return node.use { leaf in
      let isIncluded = position < leaf.flags.count && leaf.flags[position] == 1
      return (isIncluded, rank + sum(leaf.flags[..<position]))
    }
  }

  func rank(_ position: Int) -> Int { find(position).rank }

  /// Returns the included position with a rank.
  func position(rank: Int) -> Int {
    var (rank, position) = (rank, 0)
    var node = UnretainedReference(root)
    while let child = node.use({ node in
      node.isLeaf
        ? nil : UnretainedReference(node.children[node.child(rank: &rank, &position)])
    }) { node = child }
    return node.use { leaf in
      for (offset, flag) in leaf.flags.enumerated() where flag == 1 {
        if rank == 0 { return position + offset }
        rank -= 1
      }
      return position
    }
  }

  subscript(position: Int) -> Bool {
    get { find(position).isIncluded }
    set {
      let old = root.replace(at: position, by: newValue ? 1 : 0)
      includedCount += (newValue ? 1 : 0) - Int(old)
    }
  }

  mutating func insert(_ isIncluded: Bool, at position: Int) {
    let flag: UInt8 = isIncluded ? 1 : 0
    count += 1
    includedCount += Int(flag)
    if let half = root.insert(flag, at: position) { root = InclusionNode(children: [root, half]) }
  }

  mutating func remove(at position: Int) {
    count -= 1
    includedCount -= Int(root.remove(at: position))
    while root.children.count == 1 { root = root.children[0] }
    if count == 0 { root = InclusionNode(flags: []) }
  }

  /// Whether each position is included, in order.
  var flags: [Bool] {
    var flags: [Bool] = []
    flags.reserveCapacity(count)
    func visit(_ node: InclusionNode) {
      for child in node.children { visit(child) }
      for flag in node.flags { flags.append(flag == 1) }
    }
    visit(root)
    return flags
  }
}
