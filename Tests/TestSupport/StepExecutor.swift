/// A task executor that runs one job per step of a test.
///
/// ```swift
/// let executor = StepExecutor()
/// let task = Task(executorPreference: executor) { await sequence.first { _ in true } }
/// executor.run()  // until the task is suspended
/// ```
package final class StepExecutor: TaskExecutor {
  private let jobs = Shared<[UnownedJob]>([])

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.change { $0.append(job) }
  }

  /// Returns `false` if no job is pending.
  @discardableResult
  package func step() -> Bool {
    guard let job = jobs.change({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
    unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    return true
  }

  /// Runs until no job is pending.
  package func run() {
    while step() {}
  }
}
