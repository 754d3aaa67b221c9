extension ResourceCore {
  func subscribe(_ receive: @escaping @Sendable (State) -> Void) -> Subscription {
    let now = timekeeper.now()
    let token = Subscription(to: delivery)
    let isActive = change(joining: Newcomer(token: token, receive: receive)) {
      unsafe schedule.subscribe(at: now)
      return .unchanged
    }
    let membership = WorkMembership { step in
      if case .cancel = step { self.unsubscribe() }
      return true
    }
    membership.begin(isActive ? token : .ended)
    return isActive ? Subscription(membership) : .ended
  }

  private func unsubscribe() {
    change {
      unsafe schedule.unsubscribe()
      return .unchanged
    }
  }

  /// Returns the value, unless it is missing or too old.
  ///
  /// It requests a load of a stale value.
  func value(ofAge maxAge: Duration?) -> Value? {
    let now = timekeeper.now()
    let (value, isStale) = delivery.lock.withLock { _ in
      unsafe schedule.hasValue(ofAge: maxAge, at: now)
        ? (state.value, !schedule.isFresh(at: now)) : (nil, false)
    }
    if isStale { refreshStale() }
    return value
  }

  /// Waits for a value of at most the given age.
  ///
  /// - Returns: The subscription that stops waiting.
  func wait(ofAge maxAge: Duration?, _ finish: @escaping Finish) -> Subscription {
    let now = timekeeper.now()
    var (id, known, isStale) = (0, Value?.none, false)
    change(by: .waiter) {
      if unsafe schedule.hasValue(ofAge: maxAge, at: now) {
        known = unsafe state.value
        isStale = unsafe !schedule.isFresh(at: now)
      } else if unsafe !schedule.hasEnded {
        unsafe lastNumber += 1
        id = unsafe lastNumber
        unsafe waiters[id] = finish
        unsafe schedule.addWaiter()
      }
      return .unchanged
    }
    if isStale { refreshStale() }
    if let known {
      finish(.success(known))
      return .ended
    }
    if id == 0 { return .ended }
    return Subscription { [id] in self.leave(id) }
  }

  private func leave(_ id: Int) {
    var finish: Finish?
    change {
      finish = unsafe waiters.removeValue(forKey: id)
      if finish != nil { unsafe schedule.removeWaiter() }
      return .unchanged
    }
    withExtendedLifetime(finish) {}
  }

  /// `true` if the current Swift task is part of the load in progress.
  var isLoadCaller: Bool { delivery.lock.withLock { _ in unsafe run }?.isCaller ?? false }
}
