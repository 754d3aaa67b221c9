/// Small numbers for the rows of a source, and their order.
///
/// A row keeps its handle while it is not moved. Handles compare by labels, which ascend with the
/// positions, so that no comparison needs a search.
@usableFromInline
struct SourceOrder {
  @usableFromInline private(set) var handles = HandleTree()
  @usableFromInline private(set) var labels: [Int] = []
  private var free: [UInt32] = []
  /// `true` while handles equal positions: rows were inserted and removed at the end only.
  @usableFromInline private(set) var isPlain = true

  /// The distance of new labels.
  ///
  /// Half of it is inserted between two rows without new labels.
  private static let distance = 1 << 31

  @usableFromInline
  init() {}

  @usableFromInline var count: Int { handles.count }

  /// Gives the rows the handles 0, 1, … in the order of their positions.
  @usableFromInline
  mutating func rebuild(_ count: Int) {
    handles = HandleTree((0..<count).lazy.map { UInt32($0) })
    labels = (0..<count).map { $0 * Self.distance }
    free = []
    isPlain = true
  }

  /// Returns `true` if the row with the first handle is in front of the row with the second handle.
  @inlinable
  func isBefore(_ one: UInt32, _ other: UInt32) -> Bool { labels[Int(one)] < labels[Int(other)] }

  @inlinable
  func handle(at position: Int) -> UInt32 { isPlain ? UInt32(position) : handles[position] }

  @inlinable
  func position(of handle: UInt32) -> Int {
    if isPlain { return Int(handle) }
    let label = labels[Int(handle)]
    return handles.partition { labels[Int($0)] >= label }
  }

  /// Removes a row, and returns its handle, which a later row may receive.
  @usableFromInline
  mutating func remove(at position: Int) -> UInt32 {
    if position + 1 < count { isPlain = false }
    let handle = handles.remove(at: position)
    free.append(handle)
    return handle
  }

  @usableFromInline
  mutating func insert(at position: Int) -> UInt32 {
    let label = label(at: position) ?? makeRoom(at: position)
    let handle = free.popLast() ?? UInt32(labels.count)
    if position < count || handle != position { isPlain = false }
    if handle == labels.count { labels.append(label) } else { labels[Int(handle)] = label }
    handles.insert(handle, at: position)
    return handle
  }

  /// Returns a label for a new row, or `nil` if its neighbors have no number between them.
  private func label(at position: Int) -> Int? {
    if count == 0 { return 0 }
    if position == 0 { return label(of: 0) - Self.distance }
    if position == count { return label(of: count - 1) + Self.distance }
    let (low, high) = (label(of: position - 1), label(of: position))
    return high - low < 2 ? nil : low + (high - low) / 2
  }

  private func label(of position: Int) -> Int { labels[Int(handles[position])] }

  /// Spreads the labels of a range around the position.
  ///
  /// The range doubles until its numbers are the square of its rows, which makes the amortized cost
  /// O(log n) for each insertion, even at one place.
  private mutating func makeRoom(at position: Int) -> Int {
    var size = 16
    while true {
      let (start, end) = (max(0, position - size), min(count, position + size))
      let low = start == 0 ? label(of: 0) - Self.distance : label(of: start - 1)
      let high = end == count ? label(of: count - 1) + Self.distance : label(of: end)
      let step = (high - low) / (end - start + 2)
      if step < end - start, start > 0 || end < count {
        size *= 2
        continue
      }
      for place in start..<end {
        // Leaves one step free for the new row.
        let index = place - start + (place < position ? 1 : 2)
        labels[Int(handles[place])] = low + step * index
      }
      return low + step * (position - start + 1)
    }
  }
}

@usableFromInline typealias HandleTree = PositionTree<UInt32, Never>
