// Summaries combine the elements of a node in order. A change discards them along its path.
extension PositionTree {
  /// Combines all elements, or returns `nil` if the tree is empty.
  @inlinable
  func summary(_ value: (Element) -> Summary, _ combine: (Summary, Summary) -> Summary) -> Summary?
  {
    count == 0 ? nil : root.summary(value, combine)
  }
}

extension PositionNode {
  @inlinable
  func summary(_ value: (Element) -> Summary, _ combine: (Summary, Summary) -> Summary) -> Summary {
    if let summary { return summary }
    var sum: Summary
    if isLeaf {
      sum = value(elements[0])
      for element in elements.dropFirst() { sum = combine(sum, value(element)) }
    } else {
      sum = children[0].summary(value, combine)
      for child in children.dropFirst() { sum = combine(sum, child.summary(value, combine)) }
    }
    summary = sum
    return sum
  }
}

/// A tree of included and excluded positions.
extension PositionTree<Bool, Int> {
  var includedCount: Int { count == 0 ? 0 : root.includedCount }

  /// Returns the number of included positions in front of a position.
  func rank(_ position: Int) -> Int {
    if position >= count { return includedCount }
    var (node, position, rank) = (root, position, 0)
    while !node.isLeaf {
      let child = node.child(at: &position)
      for before in node.children[..<child] { rank += before.includedCount }
      node = node.children[child]
    }
    for isIncluded in node.elements[..<position] where isIncluded { rank += 1 }
    return rank
  }

  /// Returns the included position with a rank.
  func position(rank: Int) -> Int {
    var (node, rank, position) = (root, rank, 0)
    while !node.isLeaf {
      var child = 0
      while rank >= node.children[child].includedCount {
        rank -= node.children[child].includedCount
        position += node.counts[child]
        child += 1
      }
      node = node.children[child]
    }
    for (offset, isIncluded) in node.elements.enumerated() where isIncluded {
      if rank == 0 { return position + offset }
      rank -= 1
    }
    return position
  }
}

extension PositionNode<Bool, Int> {
  fileprivate var includedCount: Int { summary({ $0 ? 1 : 0 }, +) }
}
