import MiniRex

/// Runs the jobs of a store, and commits their attempts and results.
///
/// The commits of the store arrive serially. Everything else may run on any thread, and is guarded by the lock of
/// `memory`. The store decides about each beginning and each result with exclusive access, so that a job that another
/// commit has removed or replaced neither begins nor commits.
final class JobsPerformer<
  State: Sendable, Action: Sendable, Job: Codable & Identifiable & Sendable
>: Sendable where Job.ID: Codable & Sendable {
  typealias Work = @Sendable (Job, Int) async throws -> Action

  /// The parameters of `perform`.
  struct Choices: Sendable {
    let path: any KeyPath<State, Jobs<Job>> & Sendable
    let embed: @Sendable (JobsAction<Job>) -> Action
    let limit: Int
    let order: JobOrder<Job>
    let retry: JobRetry
    let now: @Sendable () -> UnixTime
    /// Returns when a commit is on the disk, or `nil` if no job waits for the disk.
    let whenDurable: (@Sendable (Int) async throws -> Void)?
    /// Returns `false` while commits would be lost, so that no job starts.
    let isRecorded: @Sendable () -> Bool
    let work: Work
  }

  let key: JobsKey
  let handle = WorkHandle()
  weak let store: Store<State, Action>?
  let choices: Choices
  let timekeeper: Timekeeper
  let memory: Lock<JobsMemory<Job>>
  private let lines = SerialState(JobLines())
  private let alarm: Lock<Alarm?>

  init(
    of store: Store<State, Action>, _ key: JobsKey, clock: any Clock<Duration>, _ choices: Choices
  ) {
    self.store = store
    self.key = key
    self.choices = choices
    timekeeper = Timekeeper(clock)
    memory = Lock(JobsMemory(durable: choices.whenDurable == nil ? .max : -1))
    alarm = Lock(nil)
    let alarm = Alarm(timekeeper) { [weak self] _ in self?.ring() }
    self.alarm.withLock { $0 = alarm }
  }

  /// Follows the jobs to the next commit.
  ///
  /// Called serially.
  func receive(_ commit: Commit<State, Action>) {
    let jobs = commit.state[keyPath: choices.path]
    let (known, runs) = memory.withLock { ($0.jobs, $0.current) }
    if jobs.nodes.root === known.nodes.root { return }
    let now = choices.now()
    var changes: [(number: Int, job: JobsSchedule.Job?)] = []
    var stopped: [JobRun<Job>] = []
    jobs.nodes.visitChanges(from: known.nodes, by: \.number, isSame: { $0.box === $1.box }) {
      old, new in
      guard let number = (new ?? old)?.element.number else { return }
      let entry = new?.element.box.entry
      var run = runs[number]
      if let other = run, !other.isValid(entry, at: commit.number) {
        stopped.append(other)
        run = nil
      }
      changes.append(
        (
          number,
          entry.map {
            job(
              $0, since: now, in: commit.number, runs: run != nil,
              isKnown: old?.element.box.entry)
          }
        ))
    }
    let (removed, live) = memory.withLock { memory in
      if memory.hasEnded { return (jobs, nil as Set<Int>?) }
      for (number, job) in changes {
        // A negative number belongs to a commit that has not added the job, which keeps the number of
        // the commit that has.
        let commit = memory.schedule.jobs[number]?.commit
        memory.schedule.remove(number)
        if var job {
          if job.commit < 0 { job.commit = commit ?? -job.commit }
          memory.schedule.insert(number, job)
        }
      }
      for run in stopped where memory.current[run.number] === run {
        memory.current[run.number] = nil
      }
      memory.newest = commit.number
      defer { memory.jobs = jobs }
      let lines = memory.schedule.lines
      return (memory.jobs, self.lines.value.isLarge(beside: lines.count) ? Set(lines.keys) : nil)
    }
    if let live { lines.value.forget(except: live) }
    withExtendedLifetime((removed, known)) {}
    for run in stopped { run.cancel() }
    advance()
  }

  /// Returns the job for the schedule.
  ///
  /// Its number of the commit is negative unless this commit has added or replaced the job.
  ///
  /// - Parameter known: The entry with the same number before the commit.
  private func job(
    _ entry: JobEntry<Job>, since now: UnixTime, in commit: Int, runs: Bool,
    isKnown known: JobEntry<Job>?
  ) -> JobsSchedule.Job {
    var since = now
    let condition: JobsSchedule.Condition
    switch entry.status {
    case .pending: condition = .ready
    case .waiting(let time): condition = .waiting(time)
    case .running(let time):
      since = time
      // Another process ran the job, or an undo has restored its entry.
      condition = runs ? .running : .ready
    case .failed:
      since = entry.failure?.time ?? now
      condition = .failed
    }
    // The commits of an attempt change the entry and not the job, so they need not be on the disk.
    let isAdded = known.map { $0.id != entry.id || entry.attempts < max(1, $0.attempts) } ?? true
    return JobsSchedule.Job(
      line: lines.value.number(of: choices.order.line(entry.job)),
      commit: isAdded ? commit : -commit, attempts: entry.attempts, condition: condition,
      since: since)
  }

  /// Begins the jobs that can start, and sets the timer.
  func advance() {
    var isDone = false
    while !isDone {
      isDone = true
      // The clock first: if it moves before the date is read, the alarm rings early, not late.
      let instant = timekeeper.now()
      let (now, isRecorded) = (choices.now(), choices.isRecorded())
      let plan = memory.withLock { memory -> JobsMemory<Job>.Plan? in
        if memory.hasEnded { return nil }
        memory.active += 1
        return memory.plan(at: now, instant, limit: choices.limit, isRecorded: isRecorded)
      }
      guard let plan else { return }
      for run in plan.starts where !begin(run) { isDone = false }
      if let number = plan.flush { flush(through: number) }
      if plan.setsAlarm { setAlarm() }
      leave()
    }
  }

  private func flush(through number: Int) {
    Task.detached { [self] in
      let isDurable: Bool
      do {
        try await choices.whenDurable?(number)
        isDurable = true
      } catch {
        isDurable = false
      }
      let retry = timekeeper.now() + .seconds(1)
      memory.withLock { memory in
        memory.isFlushing = false
        if isDurable {
          memory.durable = max(memory.durable, number)
        } else {
          memory.flushRetry = retry
        }
      }
      advance()
    }
  }

  private func setAlarm() {
    guard let alarm = alarm.withLock({ $0 }) else { return }
    while let setting = memory.withLock({ $0.alarm.next() }) {
      if let instant = setting { alarm.setOrRing(at: instant) } else { alarm.clear() }
    }
  }

  private func ring() {
    memory.withLock { $0.alarm.applied = nil }
    advance()
  }

  func leave() {
    let isOver = memory.withLock { memory in
      memory.active -= 1
      return memory.isOver
    }
    if isOver { handle.finish() }
  }

  /// Cancels all runs, and commits nothing further.
  func end() {
    let (runs, isOver) = memory.withLock { memory in
      if memory.hasEnded { return ([JobRun<Job>](), false) }
      memory.hasEnded = true
      return (Array(memory.runs.values), memory.isOver)
    }
    for run in runs { run.cancel() }
    alarm.withLock { $0.take() }?.end()
    JobsRegistry.remove(self)
    if isOver { handle.finish() }
  }
}
