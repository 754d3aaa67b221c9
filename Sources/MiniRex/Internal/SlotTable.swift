public import Synchronization

// The memory of the subscribers, and the only file that handles it.
//
// Invariants, each held by `SlotTableTests` and by the storms under AddressSanitizer:
// - A slot is read and written under the lock of its source, with two exceptions. The deliverer
//   reads, without the lock, the serial number and the callback of the slots of its `Extent`; and
//   it takes the callback out of slots that were ended during its turn.
// - A slot therefore does not move, and its callback stays where it is, while a turn runs: slots
//   are appended to new segments rather than copied to larger ones, and `tidy` is called between
//   turns only.
// - A slot with a serial number other than 0 holds a callback. One whose number is 0 holds one
//   only while it stands in the list of `Ended` slots.
// - Serial numbers grow from slot to slot, and slots before the last segment's end are all in use
//   or ended: a later slot joined later.
// - A slot and its token point at each other until one of them ends, under the lock. The slot's
//   last word to the token is that it lives nowhere; the token may be gone right after.

/// A callback that can be called where it lies, without a retain.
@usableFromInline
package struct Callback<Update>: ~Copyable {
  @usableFromInline let receive: @Sendable (Update) -> Void

  @inlinable @inline(__always)
  init(_ receive: @escaping @Sendable (Update) -> Void) {
    self.receive = receive
  }

  @inlinable @inline(__always)
  package borrowing func callAsFunction(_ update: Update) {
    receive(update)
  }
}

/// The place of one subscriber: serial number, token, callback; four words in all.
///
/// Unchecked, as `Segment` and `SlotTable` are: the invariants above say who may touch them when.
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

  /// Who lives here; 0 is nobody.
  @inlinable
  package var serial: UInt {
    get { unsafe serialPointer.pointee.load(ordering: .relaxed) }
    nonmutating set { unsafe serialPointer.pointee.store(newValue, ordering: .relaxed) }
  }

  @inlinable
  var serialPointer: UnsafeMutablePointer<Atomic<UInt>> {
    unsafe address.assumingMemoryBound(to: Atomic<UInt>.self)
  }

  /// The token while the subscription lasts, then the next slot in the list of the ended.
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

  /// Takes the callback out, so that it can be released where no lock is held.
  fileprivate func takeCallback() -> EndedCallback {
    let words = unsafe (address + 2 * Slot.word).loadUnaligned(as: (UInt, UInt).self)
    return EndedCallback(words: words)
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

  /// Tells the token where it lives now: 0 is nowhere, after which the token may be gone.
  ///
  /// For a slot that has not ended, whose link is the place of its token.
  fileprivate func tellToken(_ address: UInt) {
    let place = unsafe link.unsafelyUnwrapped.assumingMemoryBound(to: Atomic<UInt>.self)
    unsafe place.pointee.store(address, ordering: .releasing)
  }
}

/// A callback on its way out of the table.
///
/// It has two words, for closures may be moved bit by bit; two zeros are no callback.
package struct EndedCallback: Sendable {
  fileprivate var words: (UInt, UInt)

  static var none: EndedCallback { EndedCallback(words: (0, 0)) }
}

/// Releases callbacks whose type only their `Delivery` knows.
@usableFromInline @safe
package struct CallbackRelease: Sendable {
  @usableFromInline let release: @Sendable (UnsafeMutableRawPointer) -> Void

  @inlinable
  package init<Update>(_: Update.Type) {
    unsafe release = { address in
      unsafe address.assumingMemoryBound(to: Callback<Update>.self).deinitialize(count: 1)
    }
  }

  /// Releases what the callback has captured.
  ///
  /// User code may run: never under a lock.
  @inline(__always)
  package func callAsFunction(_ callback: inout EndedCallback) {
    if callback.words.0 == 0 { return }
    let place = unsafe withUnsafePointer(to: &callback) { UInt(bitPattern: $0) }
    if ReleaseChain.begins(at: place) {
      ReleaseChain.release(callback, by: self, at: place)
    } else {
      releaseNow(&callback)
    }
  }

  @inline(__always)
  func releaseNow(_ callback: inout EndedCallback) {
    unsafe withUnsafeMutablePointer(to: &callback) { unsafe release(UnsafeMutableRawPointer($0)) }
  }
}

/// A block of slots, with links to the blocks before and after it.
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
  package static func == (one: Segment, other: Segment) -> Bool {
    unsafe one.address == other.address
  }

  @inlinable static var headerSize: Int { (MemoryLayout<Header>.size + 15) & ~15 }

  @inlinable var header: UnsafeMutablePointer<Header> {
    unsafe address.assumingMemoryBound(to: Header.self)
  }

  fileprivate init(capacity: Int, previous: Segment?) {
    let size = Segment.headerSize + capacity * Slot.stride
    unsafe address = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    let header = unsafe Header(previous: previous, end: Slot(address + size))
    unsafe address.initializeMemory(as: Header.self, to: header)
  }

  fileprivate func deallocate() {
    unsafe address.deallocate()
  }

  @inlinable var start: Slot { unsafe Slot(address + Segment.headerSize) }
  @inlinable var end: Slot { unsafe header.pointee.end }

  fileprivate var capacity: Int { unsafe (end.address - start.address) / Slot.stride }

  @inlinable package var next: Segment? {
    get { unsafe header.pointee.next }
    nonmutating set { unsafe header.pointee.next = newValue }
  }

  fileprivate var previous: Segment? { unsafe header.pointee.previous }
}

/// The slots that a turn visits, in the order of their subscribers.
@usableFromInline
package struct Extent: Sendable {
  @usableFromInline package fileprivate(set) var first: Segment
  @usableFromInline package fileprivate(set) var start: Slot
  @usableFromInline package fileprivate(set) var last: Segment
  @usableFromInline package fileprivate(set) var end: Slot

  @inlinable @inline(__always)
  package func visit(_ body: (Slot) -> Void) {
    var segment = first
    var slot = start
    while true {
      let isLast = segment == last
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

/// Where a search has found somebody; whoever joined later is behind.
private struct Found {
  let slot: Slot
  let segment: Segment
  let serial: UInt
}

/// The subscribers of one source, in the order in which they subscribed.
@usableFromInline
package struct SlotTable: ~Copyable, @unchecked Sendable {
  /// What a turn that begins now visits; `nil` until somebody subscribes.
  ///
  /// Where it ends, the next subscriber goes, unless that is the end of its last segment.
  @usableFromInline package private(set) var extent: Extent?
  private var capacity = 0
  private var holes = 0
  @usableFromInline package private(set) var count = 0

  /// Slots that ended while a turn ran, oldest first, linked by `link`.
  private var firstEnded: Slot?
  private var lastEnded: Slot?

  /// The latecomer who was found last, and where.
  private var lastFound: Found?

  package init() {}

  /// The source and all of its tokens are gone, and with them every callback.
  deinit {
    freeSegments(from: extent?.first)
  }

  /// Appends a slot, whose callback the caller sets before it unlocks; O(1) amortised.
  @usableFromInline
  package mutating func append(serial: UInt, token: Subscription) -> Slot {
    let slot = extent.flatMap { $0.end == $0.last.end ? nil : $0.end } ?? makeRoom()
    slot.initialize(serial: serial, token: token)
    extent?.end = unsafe Slot(slot.address + Slot.stride)
    count += 1
    return slot
  }

  @inline(never)
  private mutating func makeRoom() -> Slot {
    guard let last = extent?.last else {
      let first = makeSegment(after: nil)
      extent = Extent(first: first, start: first.start, last: first, end: first.start)
      return first.start
    }
    let next = last.next ?? makeSegment(after: last)
    extent?.last = next
    return next.start
  }

  private mutating func makeSegment(after previous: Segment?) -> Segment {
    // Twice as many each time, until what stays unused would weigh more than a segment costs.
    let size = min(max(4, capacity), 4_096)
    let segment = Segment(capacity: size, previous: previous)
    capacity += size
    previous?.next = segment
    return segment
  }

  /// Ends the slot while no turn runs, and returns its callback to be released after the lock.
  @inline(__always)
  package mutating func remove(_ slot: Slot) -> EndedCallback {
    vacate(slot)
    if unsafe extent?.end.address == slot.address + Slot.stride {
      giveUp(slot)
    } else {
      holes += 1
    }
    return slot.takeCallback()
  }

  /// The next subscriber goes where the newest was.
  @inline(__always)
  private mutating func giveUp(_ newest: Slot) {
    extent?.end = newest
    if lastFound?.slot == newest { lastFound = nil }
  }

  /// Ends the slot while a turn runs: its callback stays until `takeEnded`.
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

  /// Takes the callback that has waited longest for its release.
  package mutating func takeEnded() -> EndedCallback {
    guard let slot = firstEnded else { return .none }
    firstEnded = unsafe slot.link.map { unsafe Slot($0) }
    if firstEnded == nil { lastEnded = nil }
    unsafe slot.link = nil
    return slot.takeCallback()
  }

  /// Ends all, in order, while a turn runs.
  package mutating func removeAllLater() {
    extent?.visit { slot in
      if slot.serial != 0 { removeLater(slot) }
    }
  }

  /// What a turn visits that is for one subscriber who joined lately; `nil` if that one has ended.
  ///
  /// When many have joined during one turn, their turns come one after the other, and each search
  /// goes on where the last one ended: O(1) amortised.
  package mutating func extent(of serial: UInt) -> Extent? {
    guard let extent else { return nil }
    let found =
      if let lastFound, lastFound.serial < serial {
        search(for: serial, after: lastFound, in: extent)
      } else {
        search(backwardsFor: serial, in: extent)
      }
    if let found { lastFound = Found(slot: found.start, segment: found.first, serial: serial) }
    return found
  }

  /// The next latecomer is looked for among the newest.
  package mutating func forgetLastFound() {
    lastFound = nil
  }

  private func search(for serial: UInt, after found: Found, in extent: Extent) -> Extent? {
    var segment = found.segment
    var slot = found.slot
    while true {
      let isLast = segment == extent.last
      let end = isLast ? extent.end : segment.end
      while slot != end {
        let next = unsafe Slot(slot.address + Slot.stride)
        if slot.serial == serial {
          return Extent(first: segment, start: slot, last: segment, end: next)
        }
        if slot.serial > serial { return nil }
        slot = next
      }
      guard !isLast, let next = segment.next else { return nil }
      segment = next
      slot = next.start
    }
  }

  private func search(backwardsFor serial: UInt, in extent: Extent) -> Extent? {
    var segment = extent.last
    var slot = extent.end
    while true {
      while slot != segment.start {
        let end = slot
        slot = unsafe Slot(slot.address - Slot.stride)
        if slot.serial == serial {
          return Extent(first: segment, start: slot, last: segment, end: end)
        }
        if slot.serial != 0, slot.serial < serial { return nil }
      }
      guard let previous = segment.previous else { return nil }
      segment = previous
      slot = previous.end
    }
  }

  /// Gives up the holes at the end, and moves the rest together once most slots are holes.
  ///
  /// Between turns only; it does nothing while an ended slot awaits its release. O(1) amortised.
  package mutating func tidy() {
    guard holes > 0, firstEnded == nil else { return }
    trim()
    if holes > 16, holes > count { compact() }
  }

  private mutating func trim() {
    while holes > 0, let segment = extent?.last, let slot = extent?.end {
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
    lastFound = nil
    moveEnd(to: place, in: segment)
  }

  /// Keeps one spare segment, so that a subscriber who comes and goes at the edge allocates
  /// nothing.
  private mutating func moveEnd(to slot: Slot, in segment: Segment) {
    extent?.last = segment
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
