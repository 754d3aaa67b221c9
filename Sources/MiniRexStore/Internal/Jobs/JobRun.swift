import MiniRex
import Synchronization

/// One run of one attempt, from the decision to start it until its closure has returned.
final class JobRun<Job: Identifiable & Sendable>: Sendable {
  private struct Work: Sendable {
    var task: Task<Void, Never>?
    var hasReturned = false
    var isCanceled = false
  }

  /// The number of the job.
  let number: Int
  let line: Int
  let attempt: Int
  /// The entry from which the run was decided.
  let box: JobBox<Job>
  /// `true` if the result is dropped: the job was removed or replaced, or nothing performs it any longer.
  private let over = Atomic(false)
  /// The number of the last commit of the chain that began the attempt, or 0 before it is known.
  private let commit = Atomic(0)
  /// `true` after the delivery of the beginning, which may come before its number is known.
  private let hasBegun = Atomic(false)
  private let work = Lock(Work())

  init(_ node: JobNode<Job>, line: Int) {
    number = node.number
    self.line = line
    box = node.box
    attempt = node.box.entry.attempts + 1
  }

  var id: Job.ID { box.entry.id }

  var isOver: Bool { over.load(ordering: .acquiring) }

  func begin(in number: Int) { commit.store(number, ordering: .releasing) }

  func attach(_ task: Task<Void, Never>) {
    work.withLock { if !$0.hasReturned { $0.task = task } }
    if isOver { cancel() }
  }

  /// Drops the result, and cancels the Swift task unless the work has returned.
  ///
  /// After that, the task commits the result, and callbacks of the store would inherit the cancellation.
  func cancel() {
    over.store(true, ordering: .releasing)
    let task = work.withLock { work in
      work.isCanceled = true
      return work.task
    }
    task?.cancel()
  }

  /// Marks the work as returned.
  ///
  /// - Returns: `true` if its Swift task is canceled, or about to be.
  func finish() -> Bool {
    // The task is released after the lock.
    let (_, isCanceled) = work.withLock { work in
      work.hasReturned = true
      return (work.task.take(), work.isCanceled)
    }
    return isCanceled || Task.isCancelled
  }

  /// Returns `true` if a commit leaves the run its job.
  ///
  /// A commit before the beginning does not count.
  func isValid(_ entry: JobEntry<Job>?, at number: Int) -> Bool {
    guard let entry, entry.id == id else { return false }
    if entry.attempts < attempt {
      if hasBegun.load(ordering: .acquiring) { return false }
      let began = commit.load(ordering: .acquiring)
      return began == 0 || number <= began
    }
    if !entry.runs(attempt) { return false }
    hasBegun.store(true, ordering: .releasing)
    return true
  }
}
