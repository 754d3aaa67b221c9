package import MiniRex
import Synchronization

/// The schedule and the turnstile of a delivery, as a value that a state search can store.
///
/// The real `Schedule` and the real `Turnstile` make its decisions.
package struct DeliveryModel: Hashable, Sendable {
  package var schedule = Schedule()
  package var phase: UInt = 0
  /// The serial number of the newest subscriber at the last signal.
  package var newestAtSignal: UInt = 0

  package init() {}

  package static func id(of thread: Int) -> ThreadID { ThreadID(rawValue: UInt(thread + 2) * 2) }

  /// Applies the real turnstile to the phase.
  package mutating func turnstile<Result>(
    isOpen: Bool = false, _ body: (borrowing Turnstile) -> Result
  ) -> Result {
    let turnstile = Turnstile(isOpen: isOpen)
    turnstile.phase.store(phase, ordering: .relaxed)
    defer { phase = turnstile.phase.load(ordering: .relaxed) }
    return body(turnstile)
  }

  // `AnyDelivery.enter`, without the takeover.
  package mutating func enter(on thread: Int, isOpen: Bool) -> Bool {
    if turnstile(isOpen: isOpen, { $0.enter() }) {
      schedule.begin(on: DeliveryModel.id(of: thread))
      return true
    }
    _ = signalDeliverer(isOpen: isOpen)
    return false
  }

  // `AnyDelivery.signalDeliverer`
  package mutating func signalDeliverer(isOpen: Bool) -> Bool {
    let (hasDeliverer, deliverer) = turnstile(isOpen: isOpen) { $0.signal() }
    if let deliverer {
      schedule.begin(on: deliverer)
      newestAtSignal = schedule.lastSerial
    }
    return hasDeliverer
  }
}
