public import MiniRex

/// What a history does, whatever the types.
///
/// Unchecked: `ways` and `told` are guarded by the lock of the delivery, and `isOver` by exclusive
/// access to the store.
@usableFromInline
class AnyHistoryHook: @unchecked Sendable {
  final let delivery = Delivery<HistoryWays>()
  /// Where whoever reads the state can go.
  @exclusivity(unchecked) private var ways = HistoryWays()
  /// What all subscribers know, or are about to; `nil` if some have joined with something newer.
  @exclusivity(unchecked) private var told: HistoryWays? = HistoryWays()
  /// True once the history was released.
  @exclusivity(unchecked) final var isOver = false

  func undo() -> Bool { absent() }

  func redo() -> Bool { absent() }

  /// The history was released, on whichever thread.
  func end() { delivery.end() }

  /// Whether there is a way in one direction: now, then whenever that changes.
  final func publisher(
    of way: @escaping @Sendable (HistoryWays) -> Bool, _ name: String, of lineage: Lineage?
  ) -> PublishedValue<Bool> {
    Publisher(
      watchedBy: lineage, as: name,
      current: { way(self.delivery.lock.withLock { _ in unsafe self.ways }) }
    ) { receive in
      let receive = skippingDuplicates(ChangeTest<Bool>(), receive)
      return self.subscribe { receive(way($0)) }
    }
  }

  private func subscribe(_ receive: @escaping @Sendable (HistoryWays) -> Void) -> Subscription {
    let thread = ThreadID.current
    let token = Subscription(delivery, place: Subscription.nowhere)
    let (first, call) = delivery.lock.withLock { delivered in
      let first = unsafe ways
      if unsafe told != first { unsafe told = nil }
      return (first, delivery.join(token, receive, first: first, from: thread, &delivered))
    }
    return delivery.makeFirstCall(call, receive, first) ? token : .ended
  }

  /// Has exclusive access, which is let go next.
  ///
  /// - Returns: True if there is something to tell.
  final func settle(_ new: HistoryWays) -> Bool {
    delivery.lock.withLock { _ in
      unsafe ways = new
      return unsafe told != new
    }
  }

  /// Without exclusive access: tells the newest, so that nobody ends with an older one.
  @usableFromInline
  final func tell(on thread: ThreadID) {
    let sent: (HistoryWays, Turn)? = delivery.lock.withLock { delivered in
      if unsafe told == ways { return nil }
      let ways = unsafe ways
      unsafe told = ways
      return delivery.admit(ways, replacing: nil, from: thread, &delivered).map { (ways, $0) }
    }
    guard let (ways, turn) = sent else { return }
    delivery.deliver(ways, turn)
    delivery.leave()
  }

  final func absent() -> Never { fatalError("A HistoryHook is made by its subclass only.") }
}

/// What a store tells of each commit, before anybody else can read the state.
///
/// Unchecked, because it is inherited from. It has no state.
@usableFromInline
class HistoryHook<State: Sendable, Action: Sendable>: AnyHistoryHook, @unchecked Sendable {
  /// - Returns: What is to be released once the state is let go.
  func remember(_ commit: Commit<State, Action>) -> Any? { absent() }

  /// Has exclusive access, which is let go next.
  func settle() -> Bool { absent() }
}
