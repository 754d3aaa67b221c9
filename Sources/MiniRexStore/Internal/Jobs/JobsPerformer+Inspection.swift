import MiniRex

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
