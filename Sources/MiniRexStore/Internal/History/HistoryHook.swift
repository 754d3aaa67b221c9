public import MiniRex

/// A history, independent of the state's type.
///
/// Unchecked: the lock of the delivery guards `ways` and `published`. Exclusive access to the store
/// guards `isOver`.
@usableFromInline
class AnyHistoryHook: @unchecked Sendable {
  final let delivery = Delivery<UndoAvailability>()
  /// The current availability.
  @safe @exclusivity(unchecked) private var ways = UndoAvailability()
  /// The availability that every subscriber has received or will receive.
  ///
  /// `nil` if a subscriber joined with a newer value.
  @safe @exclusivity(unchecked) private var published: UndoAvailability? = UndoAvailability()
  /// `true` after the history was released.
  @safe @exclusivity(unchecked) final var isOver = false

  func undo() -> Bool { absent() }

  func redo() -> Bool { absent() }

  /// Called on any thread when the history is released.
  func end() { delivery.end() }

  /// Emits the availability of one direction: the current value, then each change.
  final func publisher(
    of way: @escaping @Sendable (UndoAvailability) -> Bool, _ name: String, of lineage: Lineage?
  ) -> PublishedValue<Bool> {
    Publisher(
      watchedBy: lineage, as: name,
      value: .untracked { way(self.delivery.lock.withLock { _ in self.ways }) }
    ) { receive in
      let receive = skippingDuplicates(ChangeTest<Bool>(), receive)
      return self.subscribe { receive(way($0)) }
    }
  }

  private func subscribe(_ receive: @escaping @Sendable (UndoAvailability) -> Void) -> Subscription
  {
    let thread = ThreadID.current
    let subscription = Subscription(to: delivery)
    let (first, call) = delivery.lock.withLock { delivered in
      let first = ways
      if published != first { published = nil }
      return (first, delivery.join(subscription, receive, first: first, from: thread, &delivered))
    }
    return delivery.makeFirstCall(call, receive, first) ? subscription : .ended
  }

  /// Stores the availability, with exclusive access, just before the state is released.
  ///
  /// - Returns: `true` if the availability must be published.
  final func settle(_ new: UndoAvailability) -> Bool {
    delivery.lock.withLock { _ in
      ways = new
      return published != new
    }
  }

  /// Publishes the newest availability without exclusive access, so no subscriber ends with an
  /// older value.
  @usableFromInline
  final func publish(on thread: ThreadID) {
    let sent: (UndoAvailability, Turn)? = delivery.lock.withLock { delivered in
      if published == ways { return nil }
      let ways = ways
      published = ways
      return delivery.admit(ways, replacing: nil, from: thread, &delivered).map { (ways, $0) }
    }
    guard let (ways, turn) = sent else { return }
    delivery.deliver(ways, turn)
    delivery.leave()
  }

  private func absent() -> Never { fatalError("HistoryStorage overrides this method.") }
}

/// Receives each commit before the state is readable.
@usableFromInline
protocol HistoryHook<Root, RootAction>: AnyHistoryHook {
  associatedtype Root: Sendable
  associatedtype RootAction: Sendable

  /// Records a commit.
  ///
  /// - Parameter released: Objects to release after the state is readable.
  /// - Returns: `false` if the commit is ignored, so there is nothing to settle.
  func remember(_ commit: Commit<Root, RootAction>, _ released: inout [Any]) -> Bool

  /// Stores the availability, and returns `true` if it must be published.
  ///
  /// Called with exclusive access, just before the state is released.
  func settle() -> Bool
}
