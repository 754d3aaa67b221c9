/// A gate that callbacks pass, and its inputs.
final class GatedInputs: SubscriptionHost {
  private let gate: Subscription
  private let inputs: [Subscription]
  private let switched: SwitchedInputs?
  /// The active publishers of `flatMap`, which finish only if its own queue does not suspend them.
  private let inner: InnerInputs?

  init(
    gate: Subscription, inputs: [Subscription], switched: SwitchedInputs? = nil,
    inner: InnerInputs? = nil
  ) {
    self.gate = gate
    self.inputs = inputs
    self.switched = switched
    self.inner = inner
  }

  func isSubscribed(_ token: Subscription) -> Bool { gate.isSubscribed }

  func decisive(for token: Subscription) -> Subscription? { gate }

  func collectSources(into sources: inout SharedSources) {
    guard let switched else { return }
    for input in inputs { input.host.collectSources(into: &sources) }
    switched.collectSources(into: &sources)
  }

  func attach(_ counter: InFlightCounter, of token: Subscription) {
    (gate.host as? AnyDelivery)?.count(for: counter)
    if let inner { inner.attach(counter) }
    switched?.attach(counter)
    let outer = inner == nil ? counter : counter.makeOuter()
    for input in inputs { input.host.attach(outer, of: input) }
  }

  func end(_ token: Subscription) {
    gate.invalidate()
    for input in inputs { input.invalidate() }
  }

  func bufferCounts(of token: Subscription) -> BufferCounts {
    // The gate belongs to a delivery of this subscription only.
    let own = BufferCounts(pending: (gate.host as? AnyDelivery)?.pendingUpdates ?? 0)
    return inputs.reduce(own) { $0 + $1.bufferCounts }
  }

  func collectDrains(of token: Subscription, into drains: inout [Drain]) {
    for input in inputs { input.host.collectDrains(of: input, into: &drains) }
  }

  func end(_ token: Subscription, for group: WaitGroup) {
    group.end(gate)
    for input in inputs { group.endInput(input) }
  }
}

/// An input that ends with an object, which it does not retain.
final class OwnedInput: SubscriptionHost {
  private let input: Subscription
  private weak let owner: (any AnyObject & Sendable)?

  init(_ input: Subscription, owner: any AnyObject & Sendable) {
    self.input = input
    self.owner = owner
  }

  func isSubscribed(_ token: Subscription) -> Bool {
    owner != nil && input.isSubscribed
  }

  func decisive(for token: Subscription) -> Subscription? { input }

  func collectSources(into sources: inout SharedSources) {
    input.host.collectSources(into: &sources)
  }

  func end(_ token: Subscription) {
    input.invalidate()
  }

  func bufferCounts(of token: Subscription) -> BufferCounts { input.bufferCounts }

  func collectDrains(of token: Subscription, into drains: inout [Drain]) {
    input.host.collectDrains(of: input, into: &drains)
  }

  func attach(_ counter: InFlightCounter, of token: Subscription) {
    input.host.attach(counter, of: input)
  }

  func end(_ token: Subscription, for group: WaitGroup) {
    group.end(input)
  }
}
