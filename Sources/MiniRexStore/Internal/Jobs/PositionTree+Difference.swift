// The difference of two versions of a tree that is sorted by a number.
extension PositionTree where Summary == Never {
  /// Calls a closure with each element that one of both trees does not contain.
  ///
  /// It skips the nodes that both share, so the cost is O(m log n) for m changes, if this tree was made from the other.
  ///
  /// - Parameters:
  ///   - number: The order of the elements.
  ///   - isSame: Returns `true` if two elements with the same number are equal.
  ///   - body: A closure with an element of the other tree, an element of this tree, or both, and their positions.
  func visitChanges(
    from other: PositionTree, by number: (Element) -> Int,
    isSame: (Element, Element) -> Bool,
    _ body: (_ old: (element: Element, at: Int)?, _ new: (element: Element, at: Int)?) -> Void
  ) {
    if root === other.root { return }
    var (old, new) = (TreeWalk(other), TreeWalk(self))
    while true {
      if old.isBetweenNodes, new.isBetweenNodes, old.advance(with: &new) { continue }
      guard let one = old.first.map(number) else {
        guard new.first != nil else { return }
        if new.isBetweenNodes { new.descend() } else { body(nil, new.take()) }
        continue
      }
      guard let two = new.first.map(number) else {
        if old.isBetweenNodes { old.descend() } else { body(old.take(), nil) }
        continue
      }
      if old.isBetweenNodes, one <= two {
        old.descend()
      } else if new.isBetweenNodes, two <= one {
        new.descend()
      } else if one < two {
        body(old.take(), nil)
      } else if two < one {
        body(nil, new.take())
      } else {
        let (before, after) = (old.take(), new.take())
        if !isSame(before.element, after.element) { body(before, after) }
      }
    }
  }
}

/// A walk over a tree, which enters nodes on demand.
private struct TreeWalk<Element: Sendable> {
  typealias Node = PositionNode<Element, Never>

  /// The remaining nodes, the next node last, with their heights.
  private var nodes: [(node: Node, height: Int)]
  /// The remaining elements of the leaf that was entered last.
  private var leaf: ArraySlice<Element> = []
  private var position = 0

  init(_ tree: PositionTree<Element, Never>) {
    var height = 0
    var node = tree.root
    while let child = node.children.first {
      height += 1
      node = child
    }
    nodes = tree.count == 0 ? [] : [(tree.root, height)]
  }

  var isBetweenNodes: Bool { leaf.isEmpty }

  /// The next element, which is also the first element of the next node.
  var first: Element? {
    if let element = leaf.first { return element }
    return nodes.last?.node.elements[0]
  }

  /// Skips a node that both walks share, or enters the higher of both next nodes.
  ///
  /// - Returns: `false` if one of both walks is over, or both next nodes are leaves.
  mutating func advance(with other: inout TreeWalk) -> Bool {
    guard let (node, height) = nodes.last, let (second, otherHeight) = other.nodes.last else {
      return false
    }
    if node === second {
      skip()
      other.skip()
      return true
    }
    if height == 0, otherHeight == 0 { return false }
    if height >= otherHeight { descend() }
    if otherHeight >= height { other.descend() }
    return true
  }

  private mutating func skip() {
    guard let (node, _) = nodes.popLast() else { return }
    position += node.count
  }

  mutating func descend() {
    guard let (node, height) = nodes.popLast() else { return }
    if height == 0 {
      leaf = node.elements[...]
    } else {
      nodes += node.children.reversed().map { ($0, height - 1) }
    }
  }

  /// Takes an element of the entered leaf.
  mutating func take() -> (element: Element, at: Int) {
    defer { position += 1 }
    return (leaf.removeFirst(), position)
  }
}
