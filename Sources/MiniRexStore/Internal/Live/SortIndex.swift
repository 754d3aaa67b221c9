/// The index of a sorted query: the handles of the source's rows in the order of their keys.
///
/// `sorted` is always ascending by `keys` and by the source's order.
///
/// Without checks of exclusivity, like `FilterIndex`.
@usableFromInline
final class SortIndex<Key: Comparable & Sendable> {
  @usableFromInline @safe @exclusivity(unchecked) var order = SourceOrder()
  /// The key of each row, by its handle.
  @usableFromInline @safe @exclusivity(unchecked) var keys: [Key] = []
  @usableFromInline @safe @exclusivity(unchecked) var sorted = HandleTree()

  @inlinable
  init() {}

  @inlinable
  func sourcePosition(_ position: Int) -> Int {
    order.position(of: sorted[position])
  }

  /// Returns the change of the result that a change of the source causes.
  ///
  /// - Parameters:
  ///   - count: The number of rows of the source.
  ///   - key: The key, by the position in the source. Called once for each changed row.
  @inlinable
  func apply(_ change: consuming LiveChange, _ count: Int, _ key: (Int) -> Key) -> LiveChange {
    if let position = change.onlyUpdate {
      return update(order.handle(at: position), to: key(position), consume change)
    }
    if change.isReset {
      order.rebuild(count)
      keys = (0..<count).map(key)
      sorted = HandleTree((0..<UInt32(count)).sorted(by: isBefore))
      return .reset
    }
    if change.isEmpty { return change }
    return apply(change, key)
  }

  @inlinable
  func apply(_ change: LiveChange, _ key: (Int) -> Key) -> LiveChange {
    var result = LiveChange()
    var pending: [(handle: UInt32, from: Int?, isSame: Bool)] = []
    let places = change.removals.map { find(order.handle(at: $0)) }
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
      let handle = order.handle(at: position)
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
      let place = insert(handle)
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

  /// Changes one row, and reuses the array of its position.
  @inlinable
  func update(_ handle: UInt32, to key: Key, _ change: consuming LiveChange) -> LiveChange {
    let old = find(handle)
    let isEqual = set(key, of: handle)
    if !isEqual, !isOrdered(handle, at: old) {
      sorted.remove(at: old)
      let place = insert(handle)
      if place != old {
        var result = LiveChange()
        result.removals = [old]
        result.insertions = [LiveChange.Insertion(at: place, from: old)]
        return result
      }
    }
    change.updates[0] = old
    return change
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
    if isOrdered(handle, at: place) { return nil }
    sorted.remove(at: place)
    return place
  }

  @inlinable
  func isBefore(_ one: UInt32, _ other: UInt32) -> Bool {
    let (a, b) = (keys[Int(one)], keys[Int(other)])
    if isKey(a, before: b) { return true }
    return !isKey(b, before: a) && order.isBefore(one, other)
  }

  /// Returns `true` if the neighbors of a row are on the right sides.
  @inlinable
  func isOrdered(_ handle: UInt32, at place: Int) -> Bool {
    let (before, behind) = sorted.neighbors(of: place)
    if let before, !isBefore(before, handle) { return false }
    if let behind, !isBefore(handle, behind) { return false }
    return true
  }

  /// Returns the place of a row.
  ///
  /// Searches all rows if keys are not in the order that they had before.
  @inlinable
  func find(_ handle: UInt32) -> Int {
    let (place, found) = sorted.search { !isBefore($0, handle) }
    if found == handle { return place }
    return sorted.enumerated().first { $0.element == handle }?.offset ?? place
  }

  /// Inserts a handle by its key, and returns its place.
  @inlinable
  func insert(_ handle: UInt32) -> Int {
    let place = sorted.partition { !isBefore($0, handle) }
    sorted.insert(handle, at: place)
    return place
  }

  /// Stores the key of a row, and returns `true` if the row had an equal key.
  @inlinable @discardableResult
  func set(_ key: Key, of handle: UInt32) -> Bool {
    let handle = Int(handle)
    if handle == keys.count {
      keys.append(key)
      return false
    }
    let old = keys[handle]
    keys[handle] = key
    return !isKey(old, before: key) && !isKey(key, before: old)
  }
}
