public import MiniRex

// Reading and joining need exclusive access, so no commit comes between a first value and the next
// event.
extension StoreStorage {
  @inlinable
  var current: State {
    withAccess(for: "state") { state }
  }

  /// Subscribes to the events of later commits.
  @usableFromInline
  func subscribe(_ receive: @escaping @Sendable (Event) -> Void) -> Subscription {
    let subscription = Subscription(to: delivery)
    let hasJoined = withAccess(for: "subscribe") {
      inside.chain.duties.set(.publishes, true)
      inDebugBuild { remember(subscription) }
      return delivery.lock.withLock { delivery.join(subscription, receive, &$0) }
    }
    return hasJoined ? subscription : .ended
  }

  /// Subscribes to a child: its current value, then each value that differs from the previous one.
  @inlinable
  func subscribe<Value: Sendable>(
    to value: @escaping @Sendable (State) -> Value, _ changeTest: ChangeTest<Value>,
    _ receive: @escaping @Sendable (Value) -> Void
  ) -> Subscription {
    let receive = skippingDuplicates(changeTest, receive)
    return subscribeToCommits { receive(value($0.state)) }
  }

  var lastNumber: Int { withAccess { inside.chain.number } }

  var lastCommit: Commit<State, Action> {
    withAccess { Commit(number: inside.chain.number, cause: .parent, state: state) }
  }

  /// Emits the current state with the number of the last commit, then each later commit.
  @inlinable
  func subscribeToCommits(
    _ receive: @escaping @Sendable (Commit<State, Action>) -> Void
  ) -> Subscription {
    let subscription = joinWithCurrentState { event in
      if case .committed(let commit) = event { receive(commit) }
    }
    return subscription ?? .ended
  }

  /// Emits each later commit, and returns the current state with the number of the last commit.
  ///
  /// - Parameter prepare: It is called with exclusive access, before any call of `receive`.
  func subscribeToLaterCommits(
    after prepare: (Int) -> Void, _ receive: @escaping @Sendable (Commit<State, Action>) -> Void
  ) -> (Commit<State, Action>, Subscription) {
    let subscription = Subscription(to: delivery)
    let receive = { @Sendable (event: Event) in
      if case .committed(let commit) = event { receive(commit) }
    }
    let (last, hasJoined) = withAccess(for: "subscribe") {
      inside.chain.duties.set(.publishes, true)
      let last = Commit<State, Action>(number: inside.chain.number, cause: .parent, state: state)
      prepare(last.number)
      return (last, delivery.lock.withLock { delivery.join(subscription, receive, &$0) })
    }
    return (last, hasJoined ? subscription : .ended)
  }

  /// Subscribes with the current state as the first event.
  ///
  /// - Parameter child: The child whose row receives its own commits only. Without one, the subscription
  ///   receives every event.
  /// - Returns: `nil` if the child was removed.
  @inlinable
  func joinWithCurrentState(
    in child: PresenceIn<State>? = nil, _ receive: @escaping @Sendable (Event) -> Void
  ) -> Subscription? {
    let thread = ThreadID.current
    let joined: (Joining<Event>, Event, FirstCall)? = withAccess(for: "subscribe") {
      if child?.isGone == true { return nil }
      let joining = joining(listeners(to: child), receive)
      let first = Event.committed(
        Commit(number: inside.chain.number, cause: .parent, state: state))
      let call = joining.delivery.lock.withLock {
        joining.delivery.join(
          joining.subscription, joining.callback, first: first, from: thread, &$0)
      }
      return (joining, first, call)
    }
    guard let (joining, first, call) = joined else { return nil }
    let hasCalled = joining.delivery.makeFirstCall(call, joining.callback, first)
    return hasCalled ? joining.subscription : .ended
  }
}
