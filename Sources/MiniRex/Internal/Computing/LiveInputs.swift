internal import Synchronization

/// The subscriptions of a computed value to the sources that it depends on, at any depth.
///
/// They only signal a change. The computed value then reads the values, so that each of them is in
/// its present state, whichever source delivers first.
///
/// Unchecked: the delivering thread of the combination uses it.
private final class LiveInputs: @unchecked Sendable {
  private static let isChange = ChangeTest<Void>({ _, _ in true })

  private let combination: Combination
  private let cell = CombinationCell<Void>()
  private var shape: UInt = 0
  private var inputs: [ObjectIdentifier: Subscription] = [:]
  private weak var sentinel: Sentinel?

  init(of combination: Combination) {
    self.combination = combination
  }

  func start(_ sentinel: Sentinel) {
    self.sentinel = sentinel
    signal()
  }

  private func signal() {
    combination.receive((), into: cell, LiveInputs.isChange)
  }

  /// Follows the dependencies of the result.
  func follow(_ result: ComputedResult) {
    if result.shape == shape { return }
    // Without it, all dependencies have finished.
    guard let sentinel else { return }
    shape = result.shape
    let records = result.records
    var next: [ObjectIdentifier: Subscription] = [:]
    var isStale = false
    for record in records {
      let id = ObjectIdentifier(record.storage)
      if let present = inputs[id] {
        next[id] = present
      } else {
        next[id] = subscribe(to: record.storage, sentinel)
        if !record.isPresent { isStale = true }
      }
    }
    let removed = inputs.filter { next[$0.key] == nil }
    inputs = next
    let mayShare = records.contains {
      $0.storage.origin != nil || $0.storage.source?.follows == true
    }
    if !combination.replaceInputs(by: Array(next.values), sharing: mayShare && next.count > 1) {
      for input in next.values { input.invalidate() }
      inputs = [:]
      return
    }
    for input in removed.values { input.invalidate() }
    if isStale { signal() }
  }

  private func subscribe(to storage: VersionedStorage, _ sentinel: Sentinel) -> Subscription {
    let signal = storage.subscribe { [self] in
      withExtendedLifetime(sentinel) { self.signal() }
    }
    guard let origin = storage.origin else { return signal }
    origin.join(storage)
    return Subscription(UntrackedInput(signal: signal, origin))
  }
}

extension ComputedNode {
  /// Subscribes a callback, which receives the present value inside this call, and then changes.
  @usableFromInline
  func subscribe<Value: Sendable>(
    _ changeTest: ChangeTest<Value>, _ receive: @escaping @Sendable (Value) -> Void
  ) -> Subscription {
    let combination = Combination()
    let inputs = LiveInputs(of: combination)
    let output = CombinationOutput(changeTest, receive)
    return combination.subscribe(
      {
        let result = self.current()
        inputs.follow(result)
        output.send(result.value(of: Value.self))
      }, start: inputs.start)
  }
}

extension ComputedResult {
  /// The values of properties that the result depends on, at any depth.
  fileprivate var records: [ValueRecord] {
    var records: [ValueRecord] = []
    var known: Set<ObjectIdentifier> = []
    func collect(_ result: ComputedResult) {
      for dependency in result.dependencies {
        switch dependency {
        case .value(let record):
          if known.insert(ObjectIdentifier(record.storage)).inserted { records.append(record) }
        case .computed(let node, let result):
          if known.insert(ObjectIdentifier(node)).inserted { collect(result) }
        }
      }
    }
    collect(self)
    return records
  }
}

/// A subscription to the storage of an untracked publisher, which it keeps connected.
///
/// All properties are constant or atomic.
private final class UntrackedInput: SubscriptionHost, @unchecked Sendable {
  private let signal: Subscription
  private let origin: UntrackedOrigin
  private let hasLeft = Atomic(false)

  init(signal: Subscription, _ origin: UntrackedOrigin) {
    self.signal = signal
    self.origin = origin
  }

  override func isSubscribed(_ token: Subscription) -> Bool { signal.isSubscribed }

  override func collectSources(into sources: inout SharedSources) {
    signal.host.collectSources(into: &sources)
    origin.connection?.host.collectSources(into: &sources)
  }

  override func end(_ token: Subscription) {
    signal.invalidate()
    if !hasLeft.exchange(true, ordering: .acquiringAndReleasing) { origin.leave() }
  }
}
