/// Finds the slots of late subscribers by their serial numbers.
///
/// Turns of subscribers that joined during one turn run in order, and each search continues at the
/// last result: amortized O(1).
struct SlotSearch: Sendable {
  /// A slot that was found, and its place.
  private struct Found {
    let slot: Slot
    let segment: Segment
    let serial: UInt
  }

  private var lastFound: Found?

  /// - Parameter last: The segment in which the extent ends.
  mutating func find(_ serial: UInt, in extent: Extent, to last: Segment) -> Extent? {
    let found =
      if let lastFound, lastFound.serial < serial {
        search(for: serial, after: lastFound, in: extent, to: last)
      } else {
        search(backwardsFor: serial, in: extent, from: last)
      }
    if let found { lastFound = Found(slot: found.start, segment: found.first, serial: serial) }
    return found
  }

  mutating func forget() {
    lastFound = nil
  }

  /// Forgets a slot that the next subscriber reuses.
  @inline(__always)
  mutating func forget(_ slot: Slot) {
    if lastFound?.slot == slot { lastFound = nil }
  }

  private func search(
    for serial: UInt, after found: Found, in extent: Extent, to last: Segment
  ) -> Extent? {
    var segment = found.segment
    var slot = found.slot
    while true {
      let isLast = segment == last
      let end = isLast ? extent.end : segment.end
      while slot != end {
        let next = unsafe Slot(slot.address + Slot.stride)
        if slot.serial == serial {
          return Extent(first: segment, start: slot, end: next)
        }
        if slot.serial > serial { return nil }
        slot = next
      }
      guard !isLast, let next = segment.next else { return nil }
      segment = next
      slot = next.start
    }
  }

  private func search(
    backwardsFor serial: UInt, in extent: Extent, from last: Segment
  ) -> Extent? {
    var segment = last
    var slot = extent.end
    while true {
      while slot != segment.start {
        let end = slot
        slot = unsafe Slot(slot.address - Slot.stride)
        if slot.serial == serial {
          return Extent(first: segment, start: slot, end: end)
        }
        if slot.serial != 0, slot.serial < serial { return nil }
      }
      guard let previous = segment.previous else { return nil }
      segment = previous
      slot = previous.end
    }
  }
}
