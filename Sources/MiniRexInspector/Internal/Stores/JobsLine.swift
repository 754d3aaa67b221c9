internal import MiniRexStore

/// The jobs at one place of a store, and some of them for the page.
struct JobsLine: Sendable, Encodable, Equatable {
  struct Job: Sendable, Encodable, Equatable {
    let id: String
    /// `running`, `failed`, `waiting`, or `pending`.
    let condition: String
    let attempts: Int
    /// The time of the last change in seconds since 1970, from which the page computes the age.
    let since: Double
    /// The time before which the job does not start.
    let notBefore: Double?
    let failure: String?
  }

  let path: String
  let pending: Int
  let waiting: Int
  let running: Int
  let failed: Int
  let jobs: [Job]

  init(_ jobs: JobsInspection) {
    path = shortened(jobs.path, to: 200)
    pending = jobs.counts.pending
    waiting = jobs.counts.waiting
    running = jobs.counts.running
    failed = jobs.counts.failed
    self.jobs = jobs.jobs.map { job in
      Job(
        id: shortened(job.id, to: 80), condition: job.condition, attempts: job.attempts,
        since: seconds(job.since), notBefore: job.notBefore.map(seconds),
        failure: job.failure.map { shortened($0, to: 200) })
    }
  }
}

private func seconds(_ time: UnixTime) -> Double { Double(time.milliseconds) / 1_000 }
