/// A gate that callbacks pass, and its inputs.
///
/// All properties are constant.
final class GatedInputs: SubscriptionHost, @unchecked Sendable {
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

  override func isSubscribed(_ token: Subscription) -> Bool { gate.isSubscribed }

  override func decisive(for token: Subscription) -> Subscription? { gate }

  override func collectSources(into sources: inout SharedSources) {
    guard let switched else { return }
    for input in inputs { input.host.collectSources(into: &sources) }
    switched.collectSources(into: &sources)
  }

  override func attach(_ counter: InFlightCounter, of token: Subscription) {
    (gate.host as? AnyDelivery)?.count(for: counter)
    if let inner { inner.attach(counter) }
    switched?.attach(counter)
    let outer = inner == nil ? counter : counter.makeOuter()
    for input in inputs { input.host.attach(outer, of: input) }
  }

  override func end(_ token: Subscription) {
    gate.invalidate()
    for input in inputs { input.invalidate() }
  }

  override func bufferCounts(of token: Subscription) -> BufferCounts {
    // The gate belongs to a delivery of this subscription only.
    let own = BufferCounts(pending: (gate.host as? AnyDelivery)?.pendingUpdates ?? 0)
    return inputs.reduce(own) { $0 + $1.bufferCounts }
  }

  override func collectDrains(of token: Subscription, into drains: inout [Drain]) {
    for input in inputs { input.host.collectDrains(of: input, into: &drains) }
  }

  override func end(_ token: Subscription, for group: WaitGroup) {
    group.end(gate)
    for input in inputs { group.endInput(input) }
  }
}

/// An input that ends with an object, which it does not retain.
///
/// Both properties are constant.
final class OwnedInput: SubscriptionHost, @unchecked Sendable {
  private let input: Subscription
  private weak let owner: AnyObject?

  init(_ input: Subscription, owner: AnyObject) {
    self.input = input
    self.owner = owner
  }

  override func isSubscribed(_ token: Subscription) -> Bool {
    owner != nil && input.isSubscribed
  }

  override func decisive(for token: Subscription) -> Subscription? { input }

  override func collectSources(into sources: inout SharedSources) {
    input.host.collectSources(into: &sources)
  }

  override func end(_ token: Subscription) {
    input.invalidate()
  }

  override func bufferCounts(of token: Subscription) -> BufferCounts { input.bufferCounts }

  override func collectDrains(of token: Subscription, into drains: inout [Drain]) {
    input.host.collectDrains(of: input, into: &drains)
  }

  override func attach(_ counter: InFlightCounter, of token: Subscription) {
    input.host.attach(counter, of: input)
  }

  override func end(_ token: Subscription, for group: WaitGroup) {
    group.end(input)
  }
}
