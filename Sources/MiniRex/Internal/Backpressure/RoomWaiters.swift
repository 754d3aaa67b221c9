internal import Synchronization

/// The readers that wait for room in the queue of a subscriber.
struct RoomWaiters: ~Copyable, Sendable {
  private let isUsed = Atomic(false)
  private let waiting = Lock<[(count: Int, resume: OnceClosure)]>([])

  func add(for count: Int, _ resume: @escaping @Sendable () -> Void) {
    waiting.withLock { $0.append((count, OnceClosure(resume))) }
    isUsed.store(true, ordering: .sequentiallyConsistent)
  }

  /// Resumes readers outside the lock.
  ///
  /// - Parameter isReady: Returns `true` if a reader that waits for the given room continues. It runs
  ///   under the lock.
  @inline(__always)
  func resume(where isReady: (Int) -> Bool = { _ in true }) {
    if isUsed.load(ordering: .sequentiallyConsistent) { resumeWaiting(where: isReady) }
  }

  private func resumeWaiting(where isReady: (Int) -> Bool) {
    let ready = waiting.withLock { waiting in
      var ready: [OnceClosure] = []
      waiting.removeAll { reader in
        guard isReady(reader.count) else { return false }
        ready.append(reader.resume)
        return true
      }
      if waiting.isEmpty { isUsed.store(false, ordering: .sequentiallyConsistent) }
      return ready
    }
    for resume in ready { resume() }
  }
}
