/// The senders, relays, and gates that a decision under a lock concerns.
///
/// They continue after all locks.
struct SenderResumptions: Sendable {
  private var senders: [(SuspendedSender, SuspendedSender.Outcome)] = []
  private var relays: [InFlightCounter] = []
  private var gates: [SendGate] = []

  mutating func admit(_ sender: SuspendedSender) { senders.append((sender, .entered)) }

  mutating func refuse(_ sender: SuspendedSender) { senders.append((sender, .refused)) }

  mutating func check(_ relay: InFlightCounter) { relays.append(relay) }

  /// Looks for senders that must not wait, because a new hold may wait for them.
  mutating func look(at gate: SendGate) { gates.append(gate) }

  mutating func formUnion(_ other: SenderResumptions) {
    senders += other.senders
    relays += other.relays
    gates += other.gates
  }

  func run() {
    for (sender, outcome) in senders { sender.resume(outcome) }
    for relay in relays { relay.check() }
    for gate in gates { SuspendedTasks.resumeExempt(at: gate) }
  }
}
