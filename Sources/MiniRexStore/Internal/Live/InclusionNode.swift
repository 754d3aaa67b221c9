/// A node of an ``InclusionTree``: a leaf with flags, or an inner node with children.
///
/// All leaves have the same depth. One tree owns a node, and the index of the tree runs no foreign code
/// while it uses it.
final class InclusionNode {
  /// The numbers of positions and of included positions.
  struct Size {
    var all = 0
    var included = 0

    static func + (one: Size, other: Size) -> Size {
      Size(all: one.all + other.all, included: one.included + other.included)
    }
  }

  /// 1 for each included position of a leaf, 0 for each excluded position.
  @safe @exclusivity(unchecked) var flags: [UInt8]
  @safe @exclusivity(unchecked) var children: [InclusionNode] = []
  /// The size of each child.
  @safe @exclusivity(unchecked) var sizes: [Size] = []

  static let limit = (flags: 256, children: 32)

  init(flags: [UInt8]) { self.flags = flags }

  init(children: [InclusionNode]) {
    flags = []
    self.children = children
    sizes = children.map(\.size)
  }

  var isLeaf: Bool { children.isEmpty }

  var size: Size {
    isLeaf
      ? Size(all: flags.count, included: sum(flags[...])) : sizes.reduce(Size(), +)
  }

  /// Returns the child with a position, makes the position relative to it, and adds the included
  /// positions of the children in front.
  func child(at position: inout Int, _ rank: inout Int) -> Int {
    unsafe sizes.withUnsafeBufferPointer { sizes in
      var child = 0
      while child < sizes.count - 1, unsafe position >= sizes[child].all {
        unsafe position -= sizes[child].all
        unsafe rank += sizes[child].included
        child += 1
      }
      return child
    }
  }

  /// Returns the child with the included position of a rank, makes the rank relative to it, and adds
  /// the positions of the children in front.
  func child(rank: inout Int, _ position: inout Int) -> Int {
    unsafe sizes.withUnsafeBufferPointer { sizes in
      var child = 0
      while child < sizes.count - 1, unsafe rank >= sizes[child].included {
        unsafe rank -= sizes[child].included
        unsafe position += sizes[child].all
        child += 1
      }
      return child
    }
  }

  /// Inserts a flag, and splits a full node.
  ///
  /// - Returns: The new right half, if the node was full.
  func insert(_ flag: UInt8, at position: Int) -> InclusionNode? {
    if isLeaf {
      flags.insert(flag, at: position)
      if flags.count <= Self.limit.flags { return nil }
      let half = InclusionNode(flags: Array(flags[(flags.count / 2)...]))
      flags.removeLast(half.flags.count)
      return half
    }
    var (position, rank) = (position, 0)
    let child = child(at: &position, &rank)
    sizes[child].all += 1
    sizes[child].included += Int(flag)
    guard let half = children[child].insert(flag, at: position) else { return nil }
    children.insert(half, at: child + 1)
    sizes[child] = children[child].size
    sizes.insert(half.size, at: child + 1)
    if children.count <= Self.limit.children { return nil }
    let right = InclusionNode(children: Array(children[(children.count / 2)...]))
    let moved = right.children.count
    children.removeLast(moved)
    sizes.removeLast(moved)
    return right
  }

  func remove(at position: Int) -> UInt8 {
    if isLeaf { return flags.remove(at: position) }
    var (position, rank) = (position, 0)
    let child = child(at: &position, &rank)
    let removed = children[child].remove(at: position)
    sizes[child].all -= 1
    sizes[child].included -= Int(removed)
    if children[child].isSmall { merge(child) }
    return removed
  }

  func replace(at position: Int, by flag: UInt8) -> UInt8 {
    if isLeaf {
      let old = flags[position]
      flags[position] = flag
      return old
    }
    var (position, rank) = (position, 0)
    let child = child(at: &position, &rank)
    let old = children[child].replace(at: position, by: flag)
    sizes[child].included += Int(flag) - Int(old)
    return old
  }

  private var isSmall: Bool {
    isLeaf
      ? flags.count <= Self.limit.flags / 4 : children.count <= Self.limit.children / 4
  }

  /// Removes an empty child, or joins a small child with its neighbor if both fit one node.
  private func merge(_ child: Int) {
    if sizes[child].all == 0 {
      drop(child)
      return
    }
    let left = child > 0 ? child - 1 : child
    if left + 1 >= children.count { return }
    let (one, right) = (children[left], children[left + 1])
    guard one.flags.count + right.flags.count <= Self.limit.flags * 3 / 4,
      one.children.count + right.children.count <= Self.limit.children * 3 / 4
    else { return }
    one.flags += right.flags
    one.children += right.children
    one.sizes += right.sizes
    sizes[left] = sizes[left] + sizes[left + 1]
    drop(left + 1)
  }

  private func drop(_ child: Int) {
    children.remove(at: child)
    sizes.remove(at: child)
  }
}

/// Returns the number of included positions.
func sum(_ flags: ArraySlice<UInt8>) -> Int {
  unsafe flags.withUnsafeBufferPointer { flags in
    var sum: UInt16 = 0
    for index in flags.indices { unsafe sum &+= UInt16(flags[index]) }
    return Int(sum)
  }
}
