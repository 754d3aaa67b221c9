/// The senders, relays, and valves that a decision under a lock concerns.
///
/// They continue after all locks.
struct SenderResumptions: Sendable {
  private var senders: [(SuspendedSender, SuspendedSender.Outcome)] = []
  private var relays: [InFlightCounter] = []
  /// The counters that are new behind a relay.
  private var members: [(relay: InFlightCounter, counter: InFlightCounter)] = []
  private var valves: [SendValve] = []

  mutating func admit(_ sender: SuspendedSender) { senders.append((sender, .entered)) }

  mutating func refuse(_ sender: SuspendedSender) { senders.append((sender, .refused)) }

  mutating func check(_ relay: InFlightCounter) { relays.append(relay) }

  mutating func join(_ relay: InFlightCounter, _ counter: InFlightCounter) {
    members.append((relay, counter))
  }

  /// Adds a valve with a new hold, whose suspended senders are searched after the locks: the hold may
  /// wait for one of them, which then must not wait for the hold.
  mutating func look(at valve: SendValve) { valves.append(valve) }

  mutating func formUnion(_ other: SenderResumptions) {
    senders += other.senders
    relays += other.relays
    members += other.members
    valves += other.valves
  }

  func run() {
    for (sender, outcome) in senders { sender.resume(outcome) }
    for relay in relays { relay.check() }
    for (relay, counter) in members { counter.joinRelay(relay) }
    for valve in valves { SuspendedTasks.resumeExempt(at: valve) }
  }
}
