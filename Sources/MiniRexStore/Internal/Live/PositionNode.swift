/// A node of a ``PositionTree``: a leaf with elements, or an inner node with children.
///
/// All leaves have the same depth. A node is changed in place only by a tree that holds the one
/// reference to it, and otherwise copied first. `summary` is a cache, used only by trees without
/// copies.
///
/// Unchecked for this reason, and because closures that run while a node is read (keys, values)
/// have no access to its tree.
@usableFromInline
final class PositionNode<Element: Sendable, Summary: Sendable>: @unchecked Sendable {
  /// The elements of a leaf, or the first element of each child.
  @usableFromInline @safe @exclusivity(unchecked) var elements: [Element]
  @usableFromInline @safe @exclusivity(unchecked) var children: [PositionNode] = []
  /// The number of elements in each child.
  @usableFromInline @safe @exclusivity(unchecked) var counts: [Int] = []
  @usableFromInline @safe @exclusivity(unchecked) var summary: Summary?

  @inlinable
  init(elements: [Element]) { self.elements = elements }

  @inlinable
  init(children: [PositionNode]) {
    elements = children.map { $0.elements[0] }
    self.children = children
    counts = children.map(\.count)
  }

  /// The largest numbers of elements and of children.
  ///
  /// Leaves of small elements, such as handles, hold more of them.
  @inlinable static var limit: (elements: Int, children: Int) {
    (MemoryLayout<Element>.size > 4 ? 32 : 64, 16)
  }

  @inlinable var isLeaf: Bool { children.isEmpty }

  @inlinable var count: Int { isLeaf ? elements.count : counts.reduce(0, +) }

  @inlinable
  func copy() -> PositionNode {
    let copy = PositionNode(elements: elements)
    copy.children = children
    copy.counts = counts
    return copy
  }

  /// Returns the child with the element at a position, and makes the position relative to it.
  ///
  /// A position behind the last element belongs to the last child.
  @inlinable @inline(__always)
  func child(at position: inout Int) -> Int {
    unsafe counts.withUnsafeBufferPointer { counts in
      var child = 0
      while child < counts.count - 1, unsafe position >= counts[child] {
        unsafe position -= counts[child]
        child += 1
      }
      return child
    }
  }

  /// Makes a child that no other tree uses.
  @inlinable
  func own(_ child: Int) -> PositionNode {
    if !isKnownUniquelyReferenced(&children[child]) {
      children[child] = children[child].copy()
    }
    return children[child]
  }

  /// Inserts an element, and splits a full node.
  ///
  /// - Returns: The new right half, if the node was full.
  @inlinable
  func insert(_ element: Element, at position: Int) -> PositionNode? {
    summary = nil
    if isLeaf {
      elements.insert(element, at: position)
      if elements.count <= Self.limit.elements { return nil }
      let half = PositionNode(elements: Array(elements[(elements.count / 2)...]))
      elements.removeLast(half.elements.count)
      return half
    }
    var position = position
    let child = child(at: &position)
    counts[child] += 1
    if position == 0 { elements[child] = element }
    guard let half = own(child).insert(element, at: position) else { return nil }
    children.insert(half, at: child + 1)
    elements.insert(half.elements[0], at: child + 1)
    counts.insert(half.count, at: child + 1)
    counts[child] -= counts[child + 1]
    if children.count <= Self.limit.children { return nil }
    let right = PositionNode(children: Array(children[(children.count / 2)...]))
    let moved = right.children.count
    children.removeLast(moved)
    elements.removeLast(moved)
    counts.removeLast(moved)
    return right
  }

  @inlinable
  func remove(at position: Int) -> Element {
    summary = nil
    if isLeaf { return elements.remove(at: position) }
    var position = position
    let child = child(at: &position)
    counts[child] -= 1
    let node = own(child)
    let removed = node.remove(at: position)
    if position == 0, let first = node.elements.first { elements[child] = first }
    if node.isSmall { merge(child) }
    return removed
  }

  @inlinable
  func replace(at position: Int, by element: Element) {
    summary = nil
    if isLeaf {
      elements[position] = element
      return
    }
    var position = position
    let child = child(at: &position)
    if position == 0 { elements[child] = element }
    own(child).replace(at: position, by: element)
  }

  @inlinable
  var isSmall: Bool {
    isLeaf
      ? elements.count <= Self.limit.elements / 4 : children.count <= Self.limit.children / 4
  }

  /// Removes an empty child, or joins a small child with its neighbor if both fit one node.
  @inlinable
  func merge(_ child: Int) {
    if counts[child] == 0 {
      drop(child)
      return
    }
    let left = child > 0 ? child - 1 : child
    if left + 1 >= children.count { return }
    let (one, right) = (children[left], children[left + 1])
    let limit = one.isLeaf ? Self.limit.elements : Self.limit.children
    guard one.elements.count + right.elements.count <= limit * 3 / 4 else { return }
    let joined = own(left)
    joined.elements += right.elements
    joined.children += right.children
    joined.counts += right.counts
    joined.summary = nil
    counts[left] += counts[left + 1]
    drop(left + 1)
  }

  @inlinable
  func drop(_ child: Int) {
    children.remove(at: child)
    elements.remove(at: child)
    counts.remove(at: child)
  }
}

extension Array {
  /// Returns the first index whose element satisfies a predicate that holds from there on.
  @inlinable
  func partition(_ isBehind: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
