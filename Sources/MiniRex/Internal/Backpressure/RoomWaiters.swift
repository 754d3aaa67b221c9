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
      let readers = waiting.map { ($0, isReady: isReady($0.count)) }
      waiting = readers.filter { !$0.isReady }.map(\.0)
      if waiting.isEmpty { isUsed.store(false, ordering: .sequentiallyConsistent) }
      return readers.filter(\.isReady).map(\.0.resume)
    }
    for resume in ready { resume() }
  }
}
