/// The index of a sorted query: the handles of the source's rows in the order of their keys.
///
/// `sorted` is always ascending by `keys` and by the source's order.
@usableFromInline
final class SortIndex<Key: Comparable & Sendable> {
  @usableFromInline var order = SourceOrder()
  /// By handle.
  @usableFromInline var keys: [Key] = []
  @usableFromInline var sorted = HandleTree()

  @inlinable
  init() {}

  @inlinable
  func sourcePosition(_ position: Int) -> Int { order.position(of: sorted[position]) }

  /// - Parameters:
  ///   - count: The number of rows of the source.
  ///   - key: The key, by the position in the source. Called once for each changed row.
  @inlinable
  func apply(_ change: LiveChange, _ count: Int, _ key: (Int) -> Key) -> LiveChange {
    if change.isReset {
      order.rebuild(count)
      keys = (0..<count).map(key)
      sorted = HandleTree((0..<UInt32(count)).sorted(by: isBefore))
      return .reset
    }
    if change.isEmpty { return change }
    var result = LiveChange()
    var pending: [(handle: UInt32, from: Int?, isSame: Bool)] = []
    let places = change.removals.map { find(order.handles[$0]) }
    result.removals = places.sorted()
    for place in result.removals.reversed() { sorted.remove(at: place) }
    for position in change.removals.reversed() { _ = order.remove(at: position) }
    for insertion in change.insertions {
      let handle = order.insert(at: insertion.at)
      let place = insertion.from.map { from in places[change.removals.partition { $0 >= from }] }
      set(key(insertion.at), of: handle)
      pending.append((handle, place, insertion.isSame))
    }
    var updated: [UInt32] = []
    for position in change.updates {
      let handle = order.handles[position]
      if let place = update(handle, to: key(position)) {
        let old = result.removals.skipping(place)
        result.removals.insertSorted(old)
        pending.append((handle, old, false))
      } else {
        updated.append(handle)
      }
    }
    var isConsistent = true
    if pending.count > 1 { pending.sort { isBefore($0.handle, $1.handle) } }
    for (handle, from, isSame) in pending {
      let place = sorted.partition { !isBefore($0, handle) }
      sorted.insert(handle, at: place)
      // Only keys that contradict themselves are not in ascending order here.
      if let last = result.insertions.last, last.at >= place { isConsistent = false }
      result.insertions.append(LiveChange.Insertion(at: place, from: from, isSame: isSame))
    }
    if !isConsistent { return .reset }
    result.updates = updated.map(find)
    if result.updates.count > 1 { result.updates.sort() }
    result.simplify()
    return result
  }

  @inlinable
  func isBefore(_ one: UInt32, _ other: UInt32) -> Bool {
    let (a, b) = (keys[Int(one)], keys[Int(other)])
    if isKey(a, before: b) { return true }
    return !isKey(b, before: a) && order.isBefore(one, other)
  }

  /// Returns the place of a row.
  ///
  /// Searches all rows if keys are not in the order that they had before.
  @inlinable
  func find(_ handle: UInt32) -> Int {
    let place = sorted.partition { !isBefore($0, handle) }
    if place < sorted.count, sorted[place] == handle { return place }
    return sorted.enumerated().first { $0.element == handle }?.offset ?? place
  }

  /// Changes a key.
  ///
  /// - Returns: The place from which the row was taken out, or `nil` if it stays.
  @inlinable
  func update(_ handle: UInt32, to key: Key) -> Int? {
    let old = keys[Int(handle)]
    if !isKey(old, before: key), !isKey(key, before: old) {
      keys[Int(handle)] = key
      return nil
    }
    let place = find(handle)
    keys[Int(handle)] = key
    let isBehindPrevious = place == 0 || isBefore(sorted[place - 1], handle)
    let isInFront = place + 1 == sorted.count || isBefore(handle, sorted[place + 1])
    if isBehindPrevious, isInFront { return nil }
    sorted.remove(at: place)
    return place
  }

  @inlinable
  func set(_ key: Key, of handle: UInt32) {
    if handle == keys.count { keys.append(key) } else { keys[Int(handle)] = key }
  }
}
