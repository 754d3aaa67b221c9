import MiniRex

/// The state of a performer: the jobs that it has seen last, and the runs.
///
/// Guarded by the performer's lock. It calls no user code.
struct JobsMemory<Job: Codable & Identifiable & Sendable>: Sendable
where Job.ID: Codable & Sendable {
  /// The decisions of one look at the jobs and the clock.
  struct Plan: Sendable {
    var starts: [JobRun<Job>] = []
    /// The number of a commit that must be on the disk before further jobs start.
    var flush: Int?
    /// `true` if the caller must set the alarm.
    var setsAlarm = false
  }

  /// The setting of the only timer.
  struct AlarmSetting: Sendable {
    var wanted: Duration?
    var applied: Duration?
    /// `true` while a thread sets the alarm.
    var isSetting = false

    /// Returns the next setting, or `nil` if the alarm is as wanted.
    mutating func next() -> Duration?? {
      if wanted == applied {
        isSetting = false
        return nil
      }
      applied = wanted
      return .some(wanted)
    }
  }

  var jobs = Jobs<Job>()
  var schedule = JobsSchedule()
  /// All runs that have not returned, including runs whose job was removed.
  var runs: [ObjectIdentifier: JobRun<Job>] = [:]
  /// The runs whose results count, by the numbers of their jobs.
  var current: [Int: JobRun<Job>] = [:]
  /// The number of the last commit that is on the disk.
  var durable: Int
  /// The number of the last commit that changed jobs.
  var newest = 0
  var isFlushing = false
  /// The instant at which to try again to make commits durable.
  var flushRetry: Duration?
  var alarm = AlarmSetting()
  /// The number of threads in the performer.
  var active = 0
  var hasEnded = false
  var attempts = 0
  var failures = 0

  mutating func plan(
    at now: UnixTime, _ instant: Duration, limit: Int, isRecorded: Bool
  ) -> Plan {
    var plan = Plan()
    schedule.wake(at: now)
    if let retry = flushRetry, retry <= instant { flushRetry = nil }
    while runs.count < limit, let (number, job) = schedule.next(at: now) {
      if job.commit > durable || !isRecorded {
        if !isFlushing, flushRetry == nil {
          isFlushing = true
          plan.flush = newest
        }
        break
      }
      schedule.start(number)
      guard let node = jobs.node(number) else { continue }
      let run = JobRun(node, line: job.line)
      runs[ObjectIdentifier(run)] = run
      current[number] = run
      plan.starts.append(run)
    }
    plan.setsAlarm = setAlarm(at: now, instant, hasFreeRun: runs.count < limit)
    return plan
  }

  /// A clock can jump, so the alarm never sleeps longer than a second.
  private mutating func setAlarm(at now: UnixTime, _ instant: Duration, hasFreeRun: Bool) -> Bool {
    var wake = flushRetry
    if hasFreeRun, let time = schedule.nextTime {
      let next = instant + min(now.duration(to: time), .seconds(1))
      wake = min(wake ?? next, next)
    }
    // An earlier alarm rings early, and is set again.
    if let next = wake, let applied = alarm.applied, applied < next { wake = applied }
    alarm.wanted = wake
    if wake == alarm.applied || alarm.isSetting { return false }
    alarm.isSetting = true
    return true
  }

  /// Forgets a run that has returned or was not begun.
  mutating func forget(_ run: JobRun<Job>) {
    runs[ObjectIdentifier(run)] = nil
    if current[run.number] === run { current[run.number] = nil }
    schedule.stop(line: run.line)
  }

  /// `true` if nothing runs, and nothing will.
  var isOver: Bool { hasEnded && active == 0 && runs.isEmpty }
}
