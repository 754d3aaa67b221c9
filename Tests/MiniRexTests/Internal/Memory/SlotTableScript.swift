import MiniRex
import TestSupport

/// Records the order in which callbacks are released.
final class ReleaseLog: Sendable {
  private let serials = Lock<[UInt]>([])

  var released: [UInt] { serials.withLock { $0 } }

  func append(_ serial: UInt) {
    serials.withLock { $0.append(serial) }
  }
}

extension SlotTable {
  mutating func append(serial: UInt, _ log: ReleaseLog) -> Subscription {
    let subscription = Subscription {}
    let slot = append(serial: serial, token: subscription)
    let sentinel = Sentinel { log.append(serial) }
    slot.setCallback { (calls: CallLog) in
      withExtendedLifetime(sentinel) { calls.append(serial) }
    }
    return subscription
  }

  mutating func appendSilent(serial: UInt) -> Subscription {
    append(serial: serial, ReleaseLog())
  }

  mutating func end(_ subscriptions: [Subscription]) {
    for subscription in subscriptions {
      guard let slot = subscription.slot else { continue }
      release(remove(slot))
      tidy()
    }
  }

  var segmentCount: Int {
    var count = 0
    var segment = extent?.first
    while let counted = segment {
      count += 1
      segment = counted.next
    }
    return count
  }
}

func release(_ callback: ErasedCallback) {
  var callback = callback
  callback.release()
}

/// Records the calls of a script's callbacks.
final class CallLog: Sendable {
  private let serials = Lock<[UInt]>([])

  var called: [UInt] { serials.withLock { $0 } }

  func append(_ serial: UInt) {
    serials.withLock { $0.append(serial) }
  }
}

/// Random operations on a table, compared with an array.
final class SlotTableScript {
  private var random: SeededGenerator
  private var table = SlotTable()
  private let log = ReleaseLog()
  private var lastSerial: UInt = 0
  private var live: [(serial: UInt, subscription: Subscription)] = []
  private var ended: [UInt] = []
  private var expectedReleases: [UInt] = []
  private var bias = 0
  private(set) var breach: String?

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
  }

  func run(steps: Int) {
    for step in 0..<steps where breach == nil {
      if step % 50 == 0 { bias = Int.random(in: 1..<9, using: &random) }
      switch Int.random(in: 0..<12, using: &random) {
      case 0: turn()
      case 1...bias: join()
      default: end()
      }
      check("after step \(step)")
    }
    while !live.isEmpty { end() }
    check("after all")
    expect(log.released.count == Int(lastSerial), "a callback was not released")
  }

  private func expect(_ isTrue: Bool, _ breach: @autoclosure () -> String) {
    if !isTrue, self.breach == nil { self.breach = breach() }
  }

  private func join() {
    lastSerial += 1
    live.append((lastSerial, table.append(serial: lastSerial, log)))
  }

  private func end() {
    guard let index = live.indices.randomElement(using: &random) else { return }
    let (serial, subscription) = live.remove(at: index)
    guard let slot = subscription.slot else { return expect(false, "\(serial) has no slot") }
    release(table.remove(slot))
    table.tidy()
    ended.append(serial)
    expectedReleases.append(serial)
    expect(subscription.slot == nil, "the canceled \(serial) has a slot")
  }

  /// Runs a turn during which subscribers join and cancel.
  private func turn() {
    let entitled = live.map(\.serial)
    let ticket = lastSerial
    let extent = table.extent
    let places = live.map(\.subscription.slot)
    var removed: [UInt] = []
    for _ in 0..<Int.random(in: 0..<20, using: &random) {
      if Bool.random(using: &random) {
        join()
      } else if let index = live.indices.randomElement(using: &random) {
        let (serial, subscription) = live.remove(at: index)
        if let slot = subscription.slot { table.removeLater(slot) }
        removed.append(serial)
        expect(subscription.slot == nil, "the canceled \(serial) has a slot")
      }
      check("in a turn")
    }
    let calls = CallLog()
    extent?.visit { slot in
      if slot.serial == 0 { return }
      expect(slot.serial <= ticket, "a turn visits \(slot.serial), which joined during the turn")
      unsafe slot.callback(of: CallLog.self).pointee(calls)
    }
    expect(calls.called == entitled.filter { !removed.contains($0) }, "a turn missed a subscriber")
    for (serial, place) in zip(entitled, places) {
      guard let subscription = live.first(where: { $0.serial == serial })?.subscription else {
        continue
      }
      expect(subscription.slot == place, "\(serial) moved during a turn")
    }
    expect(table.hasEnded == !removed.isEmpty, "a cancellation was lost")
    ended += removed
    for serial in removed {
      release(table.takeEnded())
      expectedReleases.append(serial)
      // The turn is over, so other cancellations may precede the releases.
      if Bool.random(using: &random) { end() }
    }
    expect(!table.hasEnded, "a cancellation was repeated")
    table.tidy()
  }

  private func check(_ when: String) {
    let calls = CallLog()
    table.extent?.visit { slot in
      if slot.serial != 0 { unsafe slot.callback(of: CallLog.self).pointee(calls) }
    }
    expect(calls.called == live.map(\.serial), "\(when): visits \(calls.called)")
    expect(table.count == live.count, "\(when): counts \(table.count)")
    expect(log.released == expectedReleases, "\(when): released \(log.released)")
    for (serial, subscription) in live {
      expect(subscription.slot?.serial == serial, "\(when): the subscription \(serial) has no slot")
    }
    expect(spares <= 1, "\(when): \(spares) spare segments")
    checkSearch(when)
  }

  private func checkSearch(_ when: String) {
    if let (serial, subscription) = live.randomElement(using: &random) {
      var found: [Slot] = []
      table.extent(of: serial)?.visit { found.append($0) }
      expect(found == [subscription.slot], "\(when): \(serial) is not found")
    }
    if let serial = ended.randomElement(using: &random) {
      expect(table.extent(of: serial) == nil, "\(when): the canceled \(serial) is found")
    }
  }

  private var spares: Int {
    var count = 0
    var segment = table.last?.next
    while let spare = segment {
      count += 1
      segment = spare.next
    }
    return count
  }
}
