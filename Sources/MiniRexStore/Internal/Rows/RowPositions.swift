/// The positions of rows by their IDs.
///
/// Each row has a label, and labels ascend with the positions. An insertion or a removal keeps the
/// labels of the other rows, so it writes one entry of the table instead of one for each row behind.
/// A label points near the position of its row: no farther than the number of insertions, removals,
/// and moves since all rows got new labels. That number has a limit, so a search is O(1).
@usableFromInline
struct RowPositions<ID: Hashable & Sendable>: Sendable {
  @usableFromInline var labelByID: [ID: Int] = [:]
  /// The labels in the order of the rows.
  ///
  /// Empty while each label is the first label of its position.
  @usableFromInline var labels: [Int] = []
  /// The number of insertions, removals, and moves that kept the labels of other rows.
  @usableFromInline var shifts = 0

  /// The distance of new labels, as a power of two: the number of rows that fit between two rows.
  @inlinable static var spacing: Int { 32 }

  @inlinable
  init() {}

  @inlinable var count: Int { labelByID.count }

  /// A Boolean value that indicates whether all rows need new labels.
  @inlinable var isWorn: Bool { shifts >= 1_024 }

  @inlinable
  subscript(id: ID) -> Int? {
    guard let label = labelByID[id] else { return nil }
    return labels.isEmpty ? label >> Self.spacing : find(label)
  }

  @inlinable
  mutating func reserveCapacity(_ count: Int) { labelByID.reserveCapacity(count) }

  @inlinable
  mutating func append(_ id: ID) {
    let label = labels.last.map { $0 + 1 << Self.spacing } ?? count << Self.spacing
    labelByID[id] = label
    if !labels.isEmpty { labels.append(label) }
  }

  /// - Parameter rows: The rows without the new row.
  @inlinable
  mutating func insert<Row: Identifiable>(_ id: ID, at position: Int, among rows: [Row])
  where Row.ID == ID {
    if position == count { return append(id) }
    storeLabels()
    let label = label(at: position) ?? makeRoom(at: position, among: rows)
    labels.insert(label, at: position)
    labelByID[id] = label
    shifts += 1
  }

  /// Removes an ID, and returns its position, or `nil` if no row has the ID.
  @inlinable
  mutating func remove(_ id: ID) -> Int? {
    guard let position = self[id] else { return nil }
    // The last row has no rows behind it.
    if position + 1 < count {
      storeLabels()
      labels.remove(at: position)
      shifts += 1
    } else if !labels.isEmpty {
      labels.removeLast()
    }
    labelByID[id] = nil
    return position
  }

  /// - Parameter rows: The rows without the moved row.
  @inlinable
  mutating func move<Row: Identifiable>(
    _ id: ID, from old: Int, to position: Int, among rows: [Row]
  ) where Row.ID == ID {
    storeLabels()
    labels.remove(at: old)
    let label: Int
    if position == labels.count {
      label = (labels.last ?? 0) + 1 << Self.spacing
    } else {
      label = self.label(at: position) ?? makeRoom(at: position, among: rows)
    }
    labels.insert(label, at: position)
    labelByID[id] = label
    shifts += 1
  }

  /// Removes an ID without its position, which `renew` follows.
  @inlinable
  mutating func forget(_ id: ID) { labelByID[id] = nil }

  /// Gives new labels to all rows, or only from a position if the rows before it have such labels.
  @inlinable
  mutating func renew<Row: Identifiable>(from start: Int = 0, among rows: [Row])
  where Row.ID == ID {
    for position in (labels.isEmpty ? start : 0)..<rows.count {
      labelByID[rows[position].id] = position << Self.spacing
    }
    labels = []
    shifts = 0
  }

  /// Finds a label from the position to which it points.
  @inlinable
  func find(_ label: Int) -> Int {
    let guess = min(max(label >> Self.spacing, 0), labels.count - 1)
    if labels[guess] == label { return guess }
    var step = 1
    var (low, high) = (guess, guess)
    if labels[guess] < label {
      while high < labels.count - 1, labels[high] < label {
        low = high
        high = min(high + step, labels.count - 1)
        step *= 2
      }
    } else {
      while low > 0, labels[low] > label {
        high = low
        low = max(low - step, 0)
        step *= 2
      }
    }
    while low < high {
      let middle = (low + high) / 2
      if labels[middle] < label { low = middle + 1 } else { high = middle }
    }
    return low
  }

  @inlinable
  mutating func storeLabels() {
    if labels.isEmpty { labels = (0..<count).map { $0 << Self.spacing } }
  }

  /// Returns a label in front of a row, or `nil` if its neighbors have no number between them.
  @inlinable
  func label(at position: Int) -> Int? {
    if position == 0 { return labels[0] - 1 << Self.spacing }
    let (low, high) = (labels[position - 1], labels[position])
    return high - low < 2 ? nil : low + (high - low) / 2
  }

  /// Spreads the labels around a position.
  ///
  /// The range doubles until it has enough numbers, so the amortized cost of an insertion is
  /// O(log n), even at one place.
  @usableFromInline
  mutating func makeRoom<Row: Identifiable>(at position: Int, among rows: [Row]) -> Int
  where Row.ID == ID {
    var size = 16
    while true {
      let (start, end) = (max(0, position - size), min(labels.count, position + size))
      let low = start == 0 ? labels[0] - 1 << Self.spacing : labels[start - 1]
      let high = end == labels.count ? labels[end - 1] + 1 << Self.spacing : labels[end]
      let step = (high - low) / (end - start + 2)
      if step < end - start, start > 0 || end < labels.count {
        size *= 2
        continue
      }
      for place in start..<end {
        // One step stays free for the new row.
        labels[place] = low + step * (place - start + (place < position ? 1 : 2))
        labelByID[rows[place].id] = labels[place]
      }
      return low + step * (position - start + 1)
    }
  }
}
