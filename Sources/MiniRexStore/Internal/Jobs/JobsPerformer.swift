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

  /// The reason why an action is not sent.
  private struct Outdated: Error {}

  let key: JobsKey
  let handle = WorkHandle()
  private weak let store: Store<State, Action>?
  private let choices: Choices
  private let timekeeper: Timekeeper
  private let memory: Lock<JobsMemory<Job>>
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
        // The commit of an unchanged job stays the commit that added it.
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
      // Another process ran it, or an undo has restored it.
      condition = runs ? .running : .ready
    case .failed:
      since = entry.failure?.time ?? now
      condition = .failed
    }
    // An attempt changes no job that is on the disk.
    let isAdded = known.map { $0.id != entry.id || entry.attempts < max(1, $0.attempts) } ?? true
    return JobsSchedule.Job(
      line: lines.value.number(of: choices.order.line(entry.job)),
      commit: isAdded ? commit : -commit, attempts: entry.attempts, condition: condition,
      since: since)
  }

  /// Begins the jobs that can start, and sets the timer.
  private func advance() {
    var isDone = false
    while !isDone {
      isDone = true
      let (now, instant, isRecorded) = (choices.now(), timekeeper.now(), choices.isRecorded())
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

  /// Commits the beginning of an attempt, and runs it.
  ///
  /// - Returns: `false` if a delivered commit has changed the job, or a replica has rejected the beginning. A commit
  ///   that is not delivered yet begins the next jobs when it is, so that a replaced job keeps its place.
  private func begin(_ run: JobRun<Job>) -> Bool {
    let action = choices.embed(.began(id: run.id, attempt: run.attempt, at: choices.now()))
    let task = send(action) { node in !run.isOver && node(run.number)?.box === run.box }
    guard let task, isReduced(run, task) else {
      return memory.withLock { memory in
        if task != nil { memory.schedule.reject(run.number) }
        memory.forget(run)
        return task == nil && memory.jobs.node(run.number)?.box === run.box
      }
    }
    run.begin(in: task.number ?? 0)
    memory.withLock { $0.attempts += 1 }
    run.attach(
      Task.detached { [self] in
        if run.isOver { return finish(run, nil) }
        let result = await handle.run { try await choices.work(run.box.entry.job, run.attempt) }
        finish(run, result)
      })
    return true
  }

  /// Returns `false` if a replica rejected the beginning.
  ///
  /// Traps if the reducer does not apply the actions of the jobs.
  private func isReduced(_ run: JobRun<Job>, _ task: StoreTask) -> Bool {
    guard let store, store.isActive else { return true }
    if !isUnchanged(run) || store.commitTotal != task.number { return true }
    // A scope may belong to a replica.
    if store.isScope || store.isReplicated { return false }
    misuse(
      "'perform' sent an action that did not change its jobs. Apply it in the reducer: "
        + "'case .jobs(let action): state.jobs.reduce(action)'.")
  }

  /// Returns `true` if the state has the job as it was before the attempt.
  private func isUnchanged(_ run: JobRun<Job>) -> Bool {
    store?.state[keyPath: choices.path].node(run.number)?.box === run.box
  }

  /// Commits the result of a run that has returned.
  private func finish(_ run: JobRun<Job>, _ result: Result<Action, any Error>?) {
    run.finish()
    memory.withLock { $0.active += 1 }
    var isCommitted = true
    switch run.isOver ? nil : result {
    case nil: break
    case .success(let action):
      isCommitted = commit(action, of: run)
      if isCommitted {
        _ = commit(choices.embed(.finished(id: run.id, attempt: run.attempt)), of: run)
      }
    case .failure(let error):
      let delay = choices.retry.delay(error, run.attempt)
      let time = choices.now()
      let failure = JobFailure(
        attempt: run.attempt, description: String("\(error)".prefix(500)), time: time)
      let retryTime = delay.map { time.advanced(by: max(.zero, $0)) }
      isCommitted = commit(
        choices.embed(.failed(id: run.id, failure, retryAt: retryTime)), of: run)
      memory.withLock { $0.failures += 1 }
    }
    // A replica may have rejected the beginning beside another commit.
    let isRejected = !isCommitted && isUnchanged(run)
    memory.withLock { memory in
      if isRejected { memory.schedule.reject(run.number) }
      memory.forget(run)
    }
    advance()
    leave()
  }

  /// - Returns: `false` if the job is no longer in this attempt.
  private func commit(_ action: Action, of run: JobRun<Job>) -> Bool {
    let task = send(action) { node in
      guard !run.isOver, let entry = node(run.number)?.box.entry else { return false }
      return entry.id == run.id && entry.runs(run.attempt)
    }
    return task != nil
  }

  /// Sends an action if the jobs meet a condition, without another commit in between.
  private func send(
    _ action: Action, if condition: (_ node: (Int) -> JobNode<Job>?) -> Bool
  ) -> StoreTask? {
    guard let store else { return nil }
    return try? store.send { state throws(Outdated) in
      guard condition({ state[keyPath: choices.path].node($0) }) else { throw Outdated() }
      return action
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

  private func leave() {
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

extension JobsPerformer: AnyJobsPerformer {
  var isRunning: Bool { memory.withLock { $0.active > 0 || !$0.runs.isEmpty } }

  var isBusy: Bool {
    memory.withLock { memory in
      memory.active > 0 || !memory.runs.isEmpty || memory.isFlushing
        || memory.schedule.waiting.count > 0
    }
  }

  func status(atMost count: Int) -> JobsInspection {
    let (jobs, numbers, attempts, failures) = memory.withLock { memory in
      let schedule = memory.schedule
      var numbers = memory.current.keys.sorted()
      numbers += schedule.failed.prefix(count)
      numbers += schedule.waiting.lazy.map(\.number).prefix(count)
      numbers += schedule.startable.prefix(count)
      let found = numbers.prefix(count).map { ($0, schedule.jobs[$0]?.since) }
      return (memory.jobs, found, memory.attempts, memory.failures)
    }
    return JobsInspection(
      path: "\(choices.path)", counts: jobs.counts, attempts: attempts, failures: failures,
      jobs: numbers.compactMap { number, since in
        guard let entry = jobs.node(number)?.box.entry else { return nil }
        return JobsInspection.Job(entry, since: since ?? choices.now())
      })
  }
}

extension JobsInspection.Job {
  init<Job>(_ entry: JobEntry<Job>, since: UnixTime) {
    id = "\(entry.id)"
    attempts = entry.attempts
    failure = entry.failure?.description
    self.since = since
    switch entry.status {
    case .pending: (condition, notBefore) = ("pending", nil)
    case .waiting(let time): (condition, notBefore) = ("waiting", time)
    case .running: (condition, notBefore) = ("running", nil)
    case .failed: (condition, notBefore) = ("failed", nil)
    }
  }
}

/// The numbers of lines by their keys.
///
/// A key is compared and hashed by user code, so it is replaced by a number outside the lock.
private struct JobLines {
  private var numbers: [AnyHashable: Int] = [:]
  private var last = 0

  mutating func number(of key: AnyHashable) -> Int {
    if let number = numbers[key] { return number }
    last += 1
    numbers[key] = last
    return last
  }

  /// Returns `true` if most keys are unused.
  func isLarge(beside used: Int) -> Bool { numbers.count > 2 * used + 1_024 }

  mutating func forget(except used: Set<Int>) {
    numbers = numbers.filter { used.contains($0.value) }
  }
}
