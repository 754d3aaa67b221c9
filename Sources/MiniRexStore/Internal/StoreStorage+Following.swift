import MiniRex

extension StoreStorage {
  var lastNumber: Int { withAccess { unsafe chain.number } }

  /// Gives the state as it is, with the number of the last commit, then each commit from there on.
  func follow(_ receive: @escaping @Sendable (Commit<State, Action>) -> Void) -> Subscription {
    let thread = ThreadID.current
    let token = Subscription(delivery, place: Subscription.nowhere)
    let callback: @Sendable (Event) -> Void = { event in
      if case .committed(let commit) = event { receive(commit) }
    }
    let (first, call) = withAccess {
      unsafe chain.isTold = true
      let first = unsafe Event.committed(
        Commit(number: chain.number, cause: .whole, state: state))
      let call = delivery.lock.withLock {
        delivery.join(token, callback, first: first, from: thread, &$0)
      }
      return (first, call)
    }
    return delivery.makeFirstCall(call, callback, first) ? token : .ended
  }
}
