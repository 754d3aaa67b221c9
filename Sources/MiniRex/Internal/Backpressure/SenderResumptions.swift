/// The senders, relays, and valves that a decision under a lock concerns.
///
/// They continue after all locks.
struct SenderResumptions: Sendable {
  private var senders: [(SuspendedSender, SuspendedSender.Outcome)] = []
  private var relays: [InFlightCounter] = []
  private var valves: [SendValve] = []

  mutating func admit(_ sender: SuspendedSender) { senders.append((sender, .entered)) }

  mutating func refuse(_ sender: SuspendedSender) { senders.append((sender, .refused)) }

  mutating func check(_ relay: InFlightCounter) { relays.append(relay) }

  /// Looks for senders that must not wait, because a new hold may wait for them.
  mutating func look(at valve: SendValve) { valves.append(valve) }

  mutating func formUnion(_ other: SenderResumptions) {
    senders += other.senders
    relays += other.relays
    valves += other.valves
  }

  func run() {
    for (sender, outcome) in senders { sender.resume(outcome) }
    for relay in relays { relay.check() }
    for valve in valves { SuspendedTasks.resumeExempt(at: valve) }
  }
}
