#if NATS
internal import Dispatch

/// The recently written connections, which the loop polls each millisecond.
///
/// While each poll finds data, publishing threads do not wake the loop, and many small messages are
/// written together.
struct RecentSockets {
  private var wires: [LoopSocket] = []
  private var next: UInt64 = 0

  private static let interval: UInt64 = 1_000_000

  var isEmpty: Bool { wires.isEmpty }

  mutating func add(_ wire: LoopSocket) {
    if wires.isEmpty { next = DispatchTime.now().uptimeNanoseconds + Self.interval }
    wires.append(wire)
  }

  mutating func writeInTime() {
    if wires.isEmpty { return }
    let now = DispatchTime.now().uptimeNanoseconds
    if now < next { return }
    next = now + Self.interval
    wires.removeAll { !$0.writeRecent() }
  }
}
#endif
