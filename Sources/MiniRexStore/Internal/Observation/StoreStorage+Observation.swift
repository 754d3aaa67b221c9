import MiniRex

extension StoreStorage {
  /// Reads a member and registers the access with Observation.
  @usableFromInline
  func observe<Value>(_ path: any KeyPath<State, Value> & Sendable) -> Value {
    let key = MemberKey(path: path, aspect: .value)
    let (value, member, number) = withAccess(for: "a member") {
      let value = state[keyPath: path]
      let member = current(key, in: nil, value) { $0[keyPath: path] }
      return (value, member, member.number.relaxed)
    }
    member.wasRead(number)
    return value
  }

  /// Reads a value in a removable child, or returns `nil` if the child was removed.
  func observe<Value>(
    _ key: MemberKey, in child: PresenceIn<State>?, _ read: @escaping @Sendable (State) -> Value?
  ) -> Value? {
    let result: (Value, ObservedMember, Int)? = withAccess(for: "a member") {
      if child?.isGone == true { return nil }
      guard let value = read(state) else { return nil }
      let member = current(key, in: child, value, read)
      return (value, member, member.number.relaxed)
    }
    guard let (value, member, number) = result else { return nil }
    member.wasRead(number)
    return value
  }

  /// Returns the member, which compares its value after each commit from now on.
  ///
  /// Needs exclusive access.
  private func current<Value>(
    _ key: MemberKey, in child: PresenceIn<State>?, _ value: Value,
    _ read: @escaping @Sendable (State) -> Value?
  ) -> ObservedMember {
    let known = child == nil ? inside.members[key] : child?.members[key]
    if let known, known.isCurrent.relaxed { return known }
    let member = known ?? ObservedMember()
    if known == nil {
      if let child { child.members[key] = member } else { inside.members[key] = member }
    }
    member.begin()
    join(member, key, in: child, value, read)
    return member
  }

  /// Subscribes the member to commits.
  ///
  /// Needs exclusive access.
  private func join<Value>(
    _ member: ObservedMember, _ key: MemberKey, in child: PresenceIn<State>?, _ value: Value,
    _ read: @escaping @Sendable (State) -> Value?
  ) {
    let changeTest = ChangeTest<Value>()
    let number = member.number.relaxed
    let seen = SerialState((value: value, hasChanged: false))
    let subscription = join(listeners(to: child)) { [weak self, member] event in
      guard case .committed(let commit) = event, !seen.value.hasChanged else { return }
      if let new = read(commit.state), !changeTest(seen.value.value, new) { return }
      seen.value.hasChanged = true
      member.invalidate()
      self?.withAccess { member.end() }
      member.hasChanged(number) { self?.forget(member, key, in: child) }
    }
    if let subscription { member.attach(subscription) }
  }

  /// Removes the member unless it was read or changed again.
  private func forget(_ member: ObservedMember, _ key: MemberKey, in child: Presence?) {
    withAccess {
      if member.isCurrent.relaxed || member.hasJob { return }
      if let child {
        if child.members[key] === member { child.members[key] = nil }
      } else if inside.members[key] === member {
        inside.members[key] = nil
      }
    }
  }
}

/// The identity of an observed value in a state or in a removable child.
struct MemberKey: Hashable, Sendable {
  enum Aspect: Sendable {
    case value, presence, ids
  }

  let path: any AnyKeyPath & Sendable
  let aspect: Aspect
}
