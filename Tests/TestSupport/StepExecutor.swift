/// Runs the jobs of a Swift task one by one, when told: what happens between them is up to the
/// test.
///
/// ```swift
/// let executor = StepExecutor()
/// let task = Task(executorPreference: executor) { await sequence.first { _ in true } }
/// executor.run()  // as far as it gets
/// ```
package final class StepExecutor: TaskExecutor {
  private let jobs = Shared<[UnownedJob]>([])

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.change { $0.append(job) }
  }

  /// False if there was nothing to run.
  @discardableResult
  package func step() -> Bool {
    guard let job = jobs.change({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
    unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    return true
  }

  /// Runs until everything waits or has ended.
  package func run() {
    while step() {}
  }
}
