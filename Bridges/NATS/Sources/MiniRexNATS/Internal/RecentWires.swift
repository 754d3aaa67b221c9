internal import Dispatch

/// Connections that have just been written to, which the loop looks at again each millisecond.
///
/// As long as there is something to write each time, whoever publishes does not wake the loop, and
/// many small messages go out together.
struct RecentWires {
  private var wires: [Wire] = []
  private var next: UInt64 = 0

  private static let interval: UInt64 = 1_000_000

  var isEmpty: Bool { wires.isEmpty }

  mutating func add(_ wire: Wire) {
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
