/// A job in ``Jobs``, with its attempts and its last failure.
public struct JobEntry<Job: Identifiable & Sendable>: Identifiable, Sendable {
  /// The job.
  public internal(set) var job: Job
  /// The number of attempts that have begun.
  public internal(set) var attempts = 0
  /// The present condition.
  public internal(set) var status: JobStatus
  /// The failure of the last failed attempt.
  public internal(set) var failure: JobFailure?

  /// The ID of the job.
  public var id: Job.ID { job.id }

  init(_ job: Job, notBefore time: UnixTime?) {
    self.job = job
    status = time.map { .waiting(until: $0) } ?? .pending
  }

  /// Returns `true` if the job is in this attempt.
  func runs(_ attempt: Int) -> Bool {
    if case .running = status { attempts == attempt } else { false }
  }
}

extension JobEntry: Equatable where Job: Equatable {}

/// The condition of a job.
public enum JobStatus: Hashable, Sendable {
  /// The job starts when a run is free.
  case pending
  /// The job does not start before a time: its own, or the time of the next attempt.
  case waiting(until: UnixTime)
  /// The job runs, or the program that ran it has ended.
  case running(since: UnixTime)
  /// The job was given up.
  case failed
}

/// The failure of an attempt.
public struct JobFailure: Hashable, Codable, Sendable {
  /// The number of the attempt, from 1.
  public var attempt: Int
  /// The description of the error, at most 500 characters.
  public var description: String
  /// The time of the failure.
  public var time: UnixTime

  /// Creates a failure.
  public init(attempt: Int, description: String, time: UnixTime) {
    self.attempt = attempt
    self.description = description
    self.time = time
  }
}

/// The known jobs that a job with the same ID replaces.
public enum JobReplacing: Hashable, Sendable {
  /// A job that has not begun its first attempt.
  case beforeFirstAttempt
  /// Every job. A running attempt is canceled, and the attempts count from 0.
  case always
  /// None.
  case never
}

/// The numbers of jobs by their condition.
public struct JobCounts: Hashable, Sendable {
  /// The jobs that start when a run is free.
  public var pending: Int
  /// The jobs that wait for a time.
  public var waiting: Int
  /// The jobs that run.
  public var running: Int
  /// The jobs that were given up.
  public var failed: Int

  /// Creates counts.
  public init(pending: Int = 0, waiting: Int = 0, running: Int = 0, failed: Int = 0) {
    (self.pending, self.waiting, self.running, self.failed) = (pending, waiting, running, failed)
  }

  subscript(status: JobStatus) -> Int {
    get {
      switch status {
      case .pending: pending
      case .waiting: waiting
      case .running: running
      case .failed: failed
      }
    }
    set {
      switch status {
      case .pending: pending = newValue
      case .waiting: waiting = newValue
      case .running: running = newValue
      case .failed: failed = newValue
      }
    }
  }
}
