internal import Synchronization

/// A reference from sources to a combination that has had a queue.
///
/// An update of a source may wait in that queue, so `delivered()` waits for it as well. A combination
/// that never had a queue is known to no source.
final class QueueFollower: Sendable {
  weak let combination: Combination?
  /// `true` after the combination has been released.
  let isOver = Atomic(false)

  init(_ combination: Combination) {
    self.combination = combination
  }
}

extension Combination {
  /// Lets the sources of the inputs know this queue, once for the present inputs.
  ///
  /// Called in a turn of an input, after a change was queued. The turn ends later, and a thread that
  /// waits for it then finds the queue.
  @usableFromInline
  func meetSources() {
    let (inputs, follower) = delivery.lock.withLock { _ -> (Int, QueueFollower?) in
      if unsafe knownInputs.present == knownInputs.toSources { return (0, nil) }
      let known = unsafe self.follower ?? QueueFollower(self)
      unsafe self.follower = known
      return (unsafe knownInputs.present, known)
    }
    guard let follower else { return }
    let sources = SharedSources(of: self)
    for source in sources.all { source.add(follower) }
    for combination in sources.combinations { combination.delivery.add(follower) }
    delivery.lock.withLock { _ in
      unsafe knownInputs.toSources = max(knownInputs.toSources, inputs)
    }
  }
}

extension AnyDelivery {
  func add(_ follower: QueueFollower) {
    lock.withLock { state in
      if state.followers.contains(where: { $0 === follower }) { return }
      state.followers.removeAll { $0.isOver.load(ordering: .relaxed) }
      state.followers.append(follower)
    }
  }

  /// Returns when the updates that are queued now, here and in the combinations that follow, are
  /// delivered, or when the waiting task is canceled.
  ///
  /// The next combination may queue an update that a combination has emitted, so each round follows
  /// it one step.
  func deliveredByFollowers() async {
    var rounds = 0
    while true {
      let followers = lock.withLock { $0.followers }
      let queues = followers.compactMap { follower in
        follower.combination.flatMap { combination in
          combination.delivery.receipt().map { (combination.delivery, $0) }
        }
      }
      if queues.isEmpty || rounds > followers.count { return }
      rounds += 1
      for (delivery, receipt) in queues { await delivery.wait(for: receipt) }
    }
  }
}
