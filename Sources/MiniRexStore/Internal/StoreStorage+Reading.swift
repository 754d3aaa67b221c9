public import MiniRex

// Who reads or joins has the state meanwhile: nothing is committed between a first value and what comes
// after it.
extension StoreStorage {
  @inlinable
  var current: State {
    withAccess { unsafe state }
  }

  /// Subscribes to the events of what is committed from now on.
  @usableFromInline
  func subscribe(_ receive: @escaping @Sendable (Event) -> Void) -> Subscription {
    let token = Subscription(delivery, place: Subscription.nowhere)
    let hasJoined = withAccess {
      unsafe chain.isTold = true
      return delivery.lock.withLock { delivery.join(token, receive, &$0) }
    }
    return hasJoined ? token : .ended
  }

  /// Subscribes to a part: the present one, then each that differs from the one before.
  @inlinable
  func subscribe<Part: Sendable>(
    to part: @escaping @Sendable (State) -> Part, _ changeTest: ChangeTest<Part>,
    _ receive: @escaping @Sendable (Part) -> Void
  ) -> Subscription {
    let thread = ThreadID.current
    let token = Subscription(delivery, place: Subscription.nowhere)
    let receive = skippingDuplicates(changeTest, receive)
    let callback: @Sendable (Event) -> Void = { event in
      if case .committed(let commit) = event { receive(part(commit.state)) }
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

  /// Reads a member, of which Observation then hears once it has changed.
  @usableFromInline
  func observe<Part>(_ part: any KeyPath<State, Part> & Sendable) -> Part {
    let key = MemberKey(path: part, aspect: .value)
    let (value, member) = withAccess {
      let value = unsafe state[keyPath: part]
      if let member = unsafe members[key] { return (value, member) }
      let member = ObservedMember()
      unsafe members[key] = member
      join(member, key, in: nil, value) { $0[keyPath: part] }
      return (value, member)
    }
    member.wasRead()
    return value
  }

  /// Reads what there is in a part that may go; `nil` if it has gone, which nobody hears of twice.
  func observe<Value>(
    _ key: MemberKey, in part: PartOfRoot<State>?, _ read: @escaping @Sendable (State) -> Value?
  ) -> Value? {
    let read: (Value, ObservedMember)? = withAccess {
      if part?.isGone == true { return nil }
      guard let value = unsafe read(state) else { return nil }
      if let member = unsafe part == nil ? members[key] : part?.members[key] {
        return (value, member)
      }
      let member = ObservedMember()
      if let part { part.members[key] = member } else { unsafe members[key] = member }
      join(member, key, in: part, value, read)
      return (value, member)
    }
    read?.1.wasRead()
    return read?.0
  }

  /// With exclusive access: who is asked to forget the member is the first change of it.
  private func join<Value>(
    _ member: ObservedMember, _ key: MemberKey, in part: PartOfRoot<State>?, _ value: Value,
    _ read: @escaping @Sendable (State) -> Value?
  ) {
    let changeTest = ChangeTest<Value>()
    let seen = SerialState((value: value, hasChanged: false))
    let token = join(listeners(to: part)) { [weak self, member] event in
      guard case .committed(let commit) = event, !seen.value.hasChanged else { return }
      if let new = read(commit.state), !changeTest(seen.value.value, new) { return }
      seen.value.hasChanged = true
      self?.forget(member, key, in: part)
      member.invalidate()
      member.hasChanged()
    }
    if let token { member.attach(token) }
  }

  private func forget(_ member: ObservedMember, _ key: MemberKey, in part: PartEntry?) {
    withAccess {
      if let part {
        if part.members[key] === member { part.members[key] = nil }
      } else if unsafe members[key] === member {
        unsafe members[key] = nil
      }
    }
  }
}

/// What is observed of a state, or of a part that may go.
///
/// Unchecked: its key path was `Sendable` when it came.
struct MemberKey: Hashable, @unchecked Sendable {
  enum Aspect {
    case value, presence, ids
  }

  let path: AnyKeyPath
  let aspect: Aspect
}
