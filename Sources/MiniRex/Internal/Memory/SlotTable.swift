public import Synchronization

// The memory of the subscribers. Only this file changes it.
//
// Invariants, each verified by `SlotTableTests` and by the storms under AddressSanitizer:
// - The lock of the source guards a slot, with two exceptions. The delivering thread reads the
//   serial number and the callback of the slots in its `Extent` without the lock. It also takes the
//   callback out of slots that ended during its turn.
// - A delivering thread that entered without the lock reads its `Extent` from the `Front`. A
//   joining thread publishes the end of the table, and the serial number after the callback is in
//   place. The table shrinks and is compacted only by a delivering thread, or while delivering
//   threads are excluded.
// - A slot does not move during a turn, and its callback stays in place. Slots are appended to new
//   segments instead of being copied to larger ones, and `tidy` runs between turns only.
// - A slot with a serial number other than 0 holds a callback. A slot with the number 0 holds a
//   callback only while it is in the list of `Ended` slots.
// - Serial numbers increase from slot to slot, and all slots before the end of the last segment are
//   in use or ended. A later slot joined later.
// - A slot and its subscription point to each other until one of them ends, under the lock. The
//   last write of the slot to the subscription sets its place to *nowhere*. The subscription may be
//   deallocated right after.

/// The slot of one subscriber: serial number, subscription, callback.
///
/// Four words.
///
/// Unchecked, like `Segment`: the invariants above state the access rules.
@usableFromInline @safe
package struct Slot: Equatable, @unchecked Sendable {
  @usableFromInline let address: UnsafeMutableRawPointer

  @inlinable static var word: Int { MemoryLayout<UInt>.size }
  @inlinable static var stride: Int { 4 * word }

  @inlinable
  init(_ address: UnsafeMutableRawPointer) {
    unsafe self.address = address
  }

  @inlinable
  package static func == (one: Slot, other: Slot) -> Bool {
    unsafe one.address == other.address
  }

  /// The serial number of the subscriber, or 0 for none.
  @inlinable
  package var serial: UInt {
    get { unsafe serialPointer.pointee.load(ordering: .relaxed) }
    nonmutating set { unsafe serialPointer.pointee.store(newValue, ordering: .relaxed) }
  }

  @inlinable
  var serialPointer: UnsafeMutablePointer<Atomic<UInt>> {
    unsafe address.assumingMemoryBound(to: Atomic<UInt>.self)
  }

  /// The subscription while it is active, then the next slot in the list of ended slots.
  fileprivate var link: UnsafeMutableRawPointer? {
    get { unsafe linkPointer.pointee }
    nonmutating set { unsafe linkPointer.pointee = newValue }
  }

  private var linkPointer: UnsafeMutablePointer<UnsafeMutableRawPointer?> {
    unsafe (address + Slot.word).assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
  }

  @inlinable @inline(__always)
  package func callback<Update>(of _: Update.Type) -> UnsafeMutablePointer<Callback<Update>> {
    unsafe (address + 2 * Slot.word).assumingMemoryBound(to: Callback<Update>.self)
  }

  @inlinable @inline(__always)
  package func setCallback<Update>(_ receive: @escaping @Sendable (Update) -> Void) {
    unsafe callback(of: Update.self).initialize(to: Callback(receive))
  }

  @usableFromInline
  package func setCallback(_ callback: ErasedCallback) {
    unsafe (address + 2 * Slot.word).storeBytes(of: callback.words, as: (UInt, UInt).self)
  }

  /// Takes the callback out, so that it can be released outside the lock.
  fileprivate func takeCallback() -> ErasedCallback {
    let words = unsafe (address + 2 * Slot.word).loadUnaligned(as: (UInt, UInt).self)
    return ErasedCallback(words: words)
  }

  fileprivate func initialize(serial: UInt, token: Subscription) {
    unsafe serialPointer.initialize(to: Atomic(serial))
    unsafe linkPointer.initialize(to: token.placeAddress)
    token.place.store(unsafe UInt(bitPattern: address), ordering: .releasing)
  }

  fileprivate func move(to slot: Slot) {
    if slot == self { return }
    unsafe slot.address.copyMemory(from: address, byteCount: Slot.stride)
    slot.tellToken(unsafe UInt(bitPattern: slot.address))
  }

  /// Writes the place of the slot to its subscription.
  ///
  /// After 0, the subscription may be deallocated.
  ///
  /// The slot must be active, so that its link is the place of its subscription.
  fileprivate func tellToken(_ address: UInt) {
    let place = unsafe link.unsafelyUnwrapped.assumingMemoryBound(to: Atomic<UInt>.self)
    unsafe place.pointee.store(address, ordering: .releasing)
  }
}

/// A block of slots, linked to the previous and the next block.
@usableFromInline @safe
package struct Segment: Equatable, @unchecked Sendable {
  @usableFromInline
  struct Header {
    @usableFromInline var next: Segment?
    @usableFromInline var previous: Segment?
    @usableFromInline var end: Slot

    init(previous: Segment?, end: Slot) {
      self.previous = previous
      self.end = end
    }
  }

  @usableFromInline let address: UnsafeMutableRawPointer

  @inlinable
  init(address: UnsafeMutableRawPointer) {
    unsafe self.address = address
  }

  @inlinable
  package static func == (one: Segment, other: Segment) -> Bool {
    unsafe one.address == other.address
  }

  @inlinable static var headerSize: Int { MemoryLayout<Header>.stride }

  @inlinable var header: UnsafeMutablePointer<Header> {
    unsafe address.assumingMemoryBound(to: Header.self)
  }

  fileprivate init(capacity: Int, previous: Segment?) {
    let size = Segment.headerSize + capacity * Slot.stride
    unsafe address = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: Slot.word)
    let header = unsafe Header(previous: previous, end: Slot(address + size))
    unsafe address.initializeMemory(as: Header.self, to: header)
  }

  fileprivate func deallocate() {
    unsafe address.deallocate()
  }

  @inlinable var start: Slot { unsafe Slot(address + Segment.headerSize) }
  @inlinable var end: Slot { unsafe header.pointee.end }

  /// Returns `true` if the extent ends in this segment.
  ///
  /// Segments are never adjacent.
  @inlinable @inline(__always)
  func contains(end: Slot) -> Bool {
    unsafe start.address <= end.address && end.address <= self.end.address
  }

  fileprivate var capacity: Int { unsafe (end.address - start.address) / Slot.stride }

  @inlinable package var next: Segment? {
    get { unsafe header.pointee.next }
    nonmutating set { unsafe header.pointee.next = newValue }
  }

  var previous: Segment? { unsafe header.pointee.previous }
}

/// The slots of a turn, in the order of their subscribers.
@usableFromInline
package struct Extent: Sendable {
  @usableFromInline package fileprivate(set) var first: Segment
  @usableFromInline package fileprivate(set) var start: Slot
  @usableFromInline package fileprivate(set) var end: Slot

  @inlinable
  init(first: Segment, start: Slot, end: Slot) {
    self.first = first
    self.start = start
    self.end = end
  }

  @inlinable @inline(__always)
  var isEmpty: Bool { start == end }

  @inlinable @inline(__always)
  package func visit(_ body: (Slot) -> Void) {
    var segment = first
    var slot = start
    while true {
      let isLast = segment.contains(end: end)
      let end = isLast ? self.end : segment.end
      while slot != end {
        body(slot)
        slot = unsafe Slot(slot.address + Slot.stride)
      }
      guard !isLast, let next = segment.next else { return }
      segment = next
      slot = next.start
    }
  }
}

/// The subscribers of one source, in the order in which they subscribed.
@usableFromInline
package struct SlotTable: ~Copyable, Sendable {
  /// The extent of a turn that starts now, or `nil` before the first subscriber.
  ///
  /// The next subscriber joins at its end, unless that is the end of its last segment.
  @usableFromInline package private(set) var extent: Extent?
  /// The segment in which the extent ends.
  package private(set) var last: Segment?
  private var capacity = 0
  private var holes = 0
  @usableFromInline package private(set) var count = 0

  /// The slots that ended during a turn, oldest first, linked by `link`.
  private var firstEnded: Slot?
  private var lastEnded: Slot?

  private var search = SlotSearch()

  package init() {}

  /// The source and all its subscriptions are deallocated, and so are all callbacks.
  deinit {
    freeSegments(from: extent?.first)
  }

  /// Appends a slot.
  ///
  /// The caller sets its callback before it unlocks.
  ///
  /// Amortized O(1).
  @usableFromInline
  package mutating func append(serial: UInt, token: Subscription) -> Slot {
    let slot = extent.flatMap { $0.end == last?.end ? nil : $0.end } ?? makeRoom()
    slot.initialize(serial: serial, token: token)
    extent?.end = unsafe Slot(slot.address + Slot.stride)
    count += 1
    return slot
  }

  /// Publishes the end of the table to threads that enter without the lock.
  ///
  /// All earlier writes are visible to them.
  package borrowing func publish(to front: borrowing Front) {
    guard let extent else { return }
    front.first.store(unsafe UInt(bitPattern: extent.first.address), ordering: .relaxed)
    front.end.store(unsafe UInt(bitPattern: extent.end.address), ordering: .releasing)
  }

  @inline(never)
  private mutating func makeRoom() -> Slot {
    guard let last else {
      let first = makeSegment(after: nil)
      extent = Extent(first: first, start: first.start, end: first.start)
      last = first
      return first.start
    }
    let next = last.next ?? makeSegment(after: last)
    self.last = next
    return next.start
  }

  private mutating func makeSegment(after previous: Segment?) -> Segment {
    // Most sources have one subscriber. After that, segments double, until unused slots would cost
    // more than a segment.
    let size = previous == nil ? 1 : min(max(4, capacity), 4_096)
    let segment = Segment(capacity: size, previous: previous)
    capacity += size
    previous?.next = segment
    return segment
  }

  /// Ends the slot between turns, and returns its callback for a release outside the lock.
  @inline(__always)
  package mutating func remove(_ slot: Slot) -> ErasedCallback {
    vacate(slot)
    if unsafe extent?.end.address == slot.address + Slot.stride {
      giveUp(slot)
    } else {
      holes += 1
    }
    return slot.takeCallback()
  }

  /// The next subscriber reuses the newest slot.
  @inline(__always)
  private mutating func giveUp(_ newest: Slot) {
    extent?.end = newest
    search.forget(newest)
  }

  /// Ends the slot during a turn.
  ///
  /// Its callback stays until `takeEnded`.
  package mutating func removeLater(_ slot: Slot) {
    vacate(slot)
    holes += 1
    unsafe slot.link = nil
    if let lastEnded { unsafe lastEnded.link = slot.address } else { firstEnded = slot }
    lastEnded = slot
  }

  private mutating func vacate(_ slot: Slot) {
    slot.serial = 0
    slot.tellToken(0)
    count -= 1
  }

  package var hasEnded: Bool { firstEnded != nil }

  /// Takes the callback of the slot that ended first.
  package mutating func takeEnded() -> ErasedCallback {
    guard let slot = firstEnded else { return .none }
    firstEnded = unsafe slot.link.map { unsafe Slot($0) }
    if firstEnded == nil { lastEnded = nil }
    unsafe slot.link = nil
    return slot.takeCallback()
  }

  /// Ends all slots, in order, during a turn.
  package mutating func removeAllLater() {
    extent?.visit { slot in
      if slot.serial != 0 { removeLater(slot) }
    }
  }

  /// Returns the extent of a turn for one late subscriber, or `nil` if that subscriber has ended.
  ///
  /// Amortized O(1) for the subscribers that joined during one turn.
  package mutating func extent(of serial: UInt) -> Extent? {
    guard let extent, let last else { return nil }
    return search.find(serial, in: extent, to: last)
  }

  /// The next search starts among the newest subscribers.
  package mutating func forgetLastFound() {
    search.forget()
  }

  /// Removes the holes at the end, and compacts the rest once most slots are holes.
  ///
  /// Between turns only. It does nothing while an ended slot awaits its release. Amortized O(1).
  package mutating func tidy() {
    guard holes > 0, firstEnded == nil else { return }
    trim()
    if holes > 16, holes > count { compact() }
  }

  private mutating func trim() {
    while holes > 0, let segment = last, let slot = extent?.end {
      if slot == segment.start {
        guard let previous = segment.previous else { return }
        moveEnd(to: previous.end, in: previous)
      } else {
        let newest = unsafe Slot(slot.address - Slot.stride)
        if newest.serial != 0 { return }
        giveUp(newest)
        holes -= 1
      }
    }
  }

  private mutating func compact() {
    guard let extent else { return }
    var segment = extent.first
    var place = segment.start
    extent.visit { slot in
      if slot.serial == 0 { return }
      if place == segment.end, let next = segment.next {
        segment = next
        place = next.start
      }
      slot.move(to: place)
      place = unsafe Slot(place.address + Slot.stride)
    }
    holes = 0
    search.forget()
    moveEnd(to: place, in: segment)
  }

  /// Keeps one spare segment, so that a subscription and its cancellation at a segment boundary
  /// allocate nothing.
  private mutating func moveEnd(to slot: Slot, in segment: Segment) {
    last = segment
    extent?.end = slot
    guard let spare = segment.next else { return }
    freeSegments(from: spare.next)
    spare.next = nil
    capacity = 0
    var kept = extent?.first
    while let segment = kept {
      capacity += segment.capacity
      kept = segment.next
    }
  }
}

private func freeSegments(from first: Segment?) {
  var segment = first
  while let freed = segment {
    segment = freed.next
    freed.deallocate()
  }
}
