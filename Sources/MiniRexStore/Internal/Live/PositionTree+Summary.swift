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
    if let summary = summary { return summary }
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
