import MiniRex
import TestSupport

/// Remembers which callbacks have been released, and in which order.
final class ReleaseLog: Sendable {
  private let serials = Lock<[UInt]>([])

  var released: [UInt] { serials.withLock { $0 } }

  func append(_ serial: UInt) {
    serials.withLock { $0.append(serial) }
  }
}

extension SlotTable {
  mutating func append(serial: UInt, _ log: ReleaseLog) -> Subscription {
    let token = Subscription {}
    let slot = append(serial: serial, token: token)
    let sentinel = Sentinel { log.append(serial) }
    slot.setCallback { (calls: CallLog) in
      withExtendedLifetime(sentinel) { calls.append(serial) }
    }
    return token
  }

  mutating func appendSilent(serial: UInt) -> Subscription {
    append(serial: serial, ReleaseLog())
  }

  mutating func end(_ tokens: [Subscription]) {
    for token in tokens {
      guard let slot = token.slot else { continue }
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

func release(_ callback: LooseCallback) {
  var callback = callback
  callback.release()
}

/// What the callbacks of a script write to.
final class CallLog: Sendable {
  private let serials = Lock<[UInt]>([])

  var called: [UInt] { serials.withLock { $0 } }

  func append(_ serial: UInt) {
    serials.withLock { $0.append(serial) }
  }
}

/// A random life of a table beside the array that it should be like.
final class SlotTableScript {
  private var random: SeededGenerator
  private var table = SlotTable()
  private let log = ReleaseLog()
  private var lastSerial: UInt = 0
  private var live: [(serial: UInt, token: Subscription)] = []
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
    expect(log.released.count == Int(lastSerial), "a release was forgotten")
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
    let (serial, token) = live.remove(at: index)
    guard let slot = token.slot else { return expect(false, "\(serial) has no slot") }
    release(table.remove(slot))
    table.tidy()
    ended.append(serial)
    expectedReleases.append(serial)
    expect(token.slot == nil, "the ended \(serial) has a slot")
  }

  /// A turn, during which others join and end.
  private func turn() {
    let entitled = live.map(\.serial)
    let ticket = lastSerial
    let extent = table.extent
    let places = live.map(\.token.slot)
    var removed: [UInt] = []
    for _ in 0..<Int.random(in: 0..<20, using: &random) {
      if Bool.random(using: &random) {
        join()
      } else if let index = live.indices.randomElement(using: &random) {
        let (serial, token) = live.remove(at: index)
        if let slot = token.slot { table.removeLater(slot) }
        removed.append(serial)
        expect(token.slot == nil, "the ended \(serial) has a slot")
      }
      check("in a turn")
    }
    let calls = CallLog()
    extent?.visit { slot in
      if slot.serial == 0 { return }
      expect(slot.serial <= ticket, "a turn visits \(slot.serial), who joined in it")
      unsafe slot.callback(of: CallLog.self).pointee(calls)
    }
    expect(calls.called == entitled.filter { !removed.contains($0) }, "a turn missed somebody")
    for (serial, place) in zip(entitled, places) {
      guard let token = live.first(where: { $0.serial == serial })?.token else { continue }
      expect(token.slot == place, "\(serial) has moved during a turn")
    }
    expect(table.hasEnded == !removed.isEmpty, "an end was forgotten")
    ended += removed
    for serial in removed {
      release(table.takeEnded())
      expectedReleases.append(serial)
      // The turn is over: others need not wait for the releases.
      if Bool.random(using: &random) { end() }
    }
    expect(!table.hasEnded, "an end came twice")
    table.tidy()
  }

  private func check(_ when: String) {
    let calls = CallLog()
    table.extent?.visit { slot in
      if slot.serial != 0 { unsafe slot.callback(of: CallLog.self).pointee(calls) }
    }
    expect(calls.called == live.map(\.serial), "\(when): \(calls.called) are here")
    expect(table.count == live.count, "\(when): \(table.count) are counted")
    expect(log.released == expectedReleases, "\(when): \(log.released) are released")
    for (serial, token) in live {
      expect(token.slot?.serial == serial, "\(when): the token of \(serial) lost its slot")
    }
    expect(spares <= 1, "\(when): \(spares) spare segments")
    checkSearch(when)
  }

  private func checkSearch(_ when: String) {
    if let (serial, token) = live.randomElement(using: &random) {
      var found: [Slot] = []
      table.extent(of: serial)?.visit { found.append($0) }
      expect(found == [token.slot], "\(when): \(serial) is not found")
    }
    if let serial = ended.randomElement(using: &random) {
      expect(table.extent(of: serial) == nil, "\(when): the ended \(serial) is found")
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
