/// A wait group: the turns and the work that must finish before a waiting cancellation returns.
///
/// A group that awaits work is current on its thread during a cancellation. A canceled subscription
/// may hold closures that do not know each other: subscriptions of the user, bags, and captures of
/// a callback. Work canceled during that time joins the group.
///
/// Unchecked: `parent` is constant until `deinit`, and a `Lock` guards the state.
package final class WaitGroup: @unchecked Sendable {
  private struct State {
    /// The number of turns, of unfinished work handles, and of active calls of `capture`.
    var awaited = 0
    /// The work handles of this group and of its children.
    var workHandles: [WorkHandle] = []
    var waiters: [(waiter: GroupWaiter, requester: WorkHandle?)] = []

    mutating func takeWaiters(
      where isReady: (WorkHandle?) -> Bool = { _ in true }
    ) -> [GroupWaiter] {
      let ready = waiters.filter { isReady($0.requester) }
      waiters.removeAll { isReady($0.requester) }
      return ready.map(\.waiter)
    }
  }

  private static let ofThread = ThreadLocal<WaitGroup>()

  /// The current group of this thread.
  static var current: WaitGroup? { ofThread.value }

  let awaitsWork: Bool
  /// The work that requested the wait.
  ///
  /// Waiting for it would deadlock.
  private let requester: WorkHandle?
  /// The group that waits for this group, and becomes current again afterward.
  private var parent: WaitGroup?
  private let state = Lock(State())

  init(
    awaitingWork awaitsWork: Bool = true, requester: WorkHandle? = WorkHandle.current,
    childOf parent: WaitGroup? = nil
  ) {
    self.awaitsWork = awaitsWork
    self.requester = requester
    self.parent = parent
  }

  /// Each group of a chain of cancellations may hold the last reference to its parent.
  deinit { ReleaseChain.release(&parent) }

  func end(_ token: Subscription) {
    if awaitsWork {
      capture { token.host.end(token, for: self) }
    } else {
      token.host.end(token, for: self)
    }
  }

  /// Cancels the input of a canceled subscription.
  func endInput(_ input: Subscription) {
    if awaitsWork { end(input) } else { input.invalidate() }
  }

  /// Runs the body, and adds the work that it cancels on this thread to the group.
  func capture(_ body: () -> Void) {
    let outer = WaitGroup.ofThread.value
    enter()
    WaitGroup.ofThread.value = self
    body()
    // The thread-local value does not retain the groups.
    withExtendedLifetime(outer) { WaitGroup.ofThread.value = outer }
    leave()
  }

  /// Runs the body for several groups.
  ///
  /// Each waits for the work that the body cancels.
  static func capture(_ groups: [WaitGroup], _ body: () -> Void) {
    guard let first = groups.first else { return body() }
    if groups.count == 1 { return first.capture(body) }
    let shared = WaitGroup(requester: nil)
    shared.capture(body)
    for group in groups { group.await(shared) }
  }

  /// Adds one turn or one run of work.
  func enter() {
    state.withLock { $0.awaited += 1 }
  }

  /// Removes a turn or a run of work.
  ///
  /// A loop visits the waiting groups, because a chain of cancellations has one per link.
  func leave() {
    var next: WaitGroup? = self
    var left: [WaitGroup] = []
    while let group = next {
      next = nil
      for waiter in group.removeOne() {
        switch waiter {
        case .call(let call): call()
        case .group(let group):
          if let next { left.append(next) }
          next = group
        }
      }
      next = next ?? left.popLast()
    }
  }

  /// Counts one awaited work as ended.
  ///
  /// - Returns: The waiters to resume.
  private func removeOne() -> [GroupWaiter] {
    // The handles are released after the lock.
    let (waiters, _) = state.withLock { state -> ([GroupWaiter], [WorkHandle]) in
      state.awaited -= 1
      if state.awaited > 0 { return ([], []) }
      defer { state.workHandles = [] }
      return (state.takeWaiters(), state.workHandles)
    }
    return waiters
  }

  /// Lets the group wait for work that has a handle.
  ///
  /// - Returns: `false` if the work requested the wait, so that the group must not wait for it.
  func enter(_ workHandle: WorkHandle) -> Bool {
    if isRequested(by: workHandle) { return false }
    enter()
    add([workHandle])
    return true
  }

  /// Adds work handles to this group and to the groups that wait for it.
  ///
  /// A waiter that this work requested would deadlock, so it resumes now.
  private func add(_ workHandles: [WorkHandle]) {
    if workHandles.isEmpty { return }
    var requested: [GroupWaiter] = []
    visitWaiting { _, state in
      state.workHandles += workHandles
      requested += state.takeWaiters { requester in
        workHandles.contains { requester?.isPart(of: $0) ?? false }
      }
      return false
    }
    for waiter in requested { waiter.resume() }
  }

  /// Waits for another group, except for the work that requested this wait.
  ///
  /// The closures that two cancellations run on two threads may cancel each other's work. One of
  /// two groups that would wait for each other does not wait, and its parent does, because its
  /// parent is the group of a caller.
  func await(_ other: WaitGroup) {
    if other.parent === self { return awaitChild(other) }
    if isDescendant(of: other) { return }
    let workHandles = other.state.withLock { $0.workHandles }
    if workHandles.contains(where: isRequested) {
      for workHandle in workHandles { workHandle.isAwaited(by: self) }
      return
    }
    enter()
    if !other.notify(.group(self), requester: requester) { return leave() }
    // Read again, because later handles find this group.
    add(other.state.withLock { $0.workHandles })
    // Two threads may close a circle concurrently. Each finds it, because its wait is entered before. A
    // group always waits for its children.
    if other.isDescendant(of: self) || !isAwaited(by: other) || !other.forget(self) { return }
    parent?.await(other)
    leave()
  }

  /// Waits for a group whose parent this group is, except for the work that requested this wait.
  ///
  /// The handles of the child have already been added to this group. Unlike `await`, it therefore
  /// costs the same at any depth of a chain of cancellations.
  private func awaitChild(_ child: WaitGroup) {
    if requester != nil {
      let workHandles = child.state.withLock { $0.workHandles }
      if workHandles.contains(where: isRequested) {
        for workHandle in workHandles { workHandle.isAwaited(by: self) }
        return
      }
    }
    enter()
    if !child.notify(.group(self), requester: requester) { leave() }
  }

  /// Returns `true` if the other group waits for this group, directly or through further groups.
  private func isAwaited(by other: WaitGroup) -> Bool {
    visitWaiting { group, _ in group === other }
  }

  /// Visits this group and the groups that wait for it, each under its lock, until the body returns
  /// `true`.
  ///
  /// A parent counts from the beginning, although it waits for its child only after the capture.
  ///
  /// - Returns: `false` if the body has not returned `true`.
  @discardableResult
  private func visitWaiting(_ body: (WaitGroup, inout State) -> Bool) -> Bool {
    var found = [self]
    // A search of the array is faster for a few groups, and needs no memory.
    var known: Set<ObjectIdentifier> = []
    func isKnown(_ group: WaitGroup) -> Bool {
      if found.count < 16 { return found.contains { $0 === group } }
      if known.isEmpty { known = Set(found.map(ObjectIdentifier.init)) }
      return !known.insert(ObjectIdentifier(group)).inserted
    }
    var index = 0
    while index < found.count {
      let group = found[index]
      let (isDone, waiting) = group.state.withLock { state in
        let waiting = state.waiters.compactMap(\.waiter.group)
        return (body(group, &state), waiting)
      }
      if isDone { return true }
      for next in waiting + (group.parent.map { [$0] } ?? []) where !isKnown(next) {
        found.append(next)
      }
      index += 1
    }
    return false
  }

  /// Removes a waiting group from the waiters of this group.
  ///
  /// - Returns: `false` if the group no longer waits.
  private func forget(_ group: WaitGroup) -> Bool {
    state.withLock { state in
      let index = state.waiters.lastIndex { $0.waiter.group === group }
      if let index { state.waiters.remove(at: index) }
      return index != nil
    }
  }

  private func isRequested(by workHandle: WorkHandle) -> Bool {
    requester?.isPart(of: workHandle) ?? false
  }

  private func isDescendant(of other: WaitGroup) -> Bool {
    var group: WaitGroup? = self
    while let current = group {
      if current === other { return true }
      group = current.parent
    }
    return false
  }

  /// Calls a closure when all work of the group has ended.
  ///
  /// - Parameter requester: The work that the call does not wait for.
  /// - Returns: `false` if nothing is pending. `resume` is then not called.
  func notify(requester: WorkHandle? = nil, _ resume: @escaping @Sendable () -> Void) -> Bool {
    notify(.call(resume), requester: requester)
  }

  private func notify(_ waiter: GroupWaiter, requester: WorkHandle?) -> Bool {
    state.withLock { state in
      if state.awaited == 0 { return false }
      state.waiters.append((waiter, requester))
      return true
    }
  }

  private var isOver: Bool { state.withLock { $0.awaited == 0 } }

  @available(*, noasync)
  func wait() {
    if isOver { return }
    let parking = Parking()
    if notify({ parking.open() }) { parking.wait() }
  }

  func wait() async {
    if isOver { return }
    unsafe await withUnsafeContinuation { continuation in
      let waiter = unsafe Waiter(continuation)
      if !notify({ waiter.resume() }) { waiter.resume() }
    }
  }
}

private enum GroupWaiter: Sendable {
  case group(WaitGroup)
  case call(@Sendable () -> Void)

  func resume() {
    switch self {
    case .group(let group): group.leave()
    case .call(let call): call()
    }
  }

  var group: WaitGroup? {
    if case .group(let group) = self { group } else { nil }
  }
}
