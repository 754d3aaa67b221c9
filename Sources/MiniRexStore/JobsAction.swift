/// An action of ``Jobs``.
///
/// `perform` sends all but the last two. Each names its job and its attempt, so a late action about an
/// earlier attempt has no effect.
public enum JobsAction<Job: Identifiable & Sendable>: Hashable, Sendable
where Job.ID: Codable & Sendable {
  /// An attempt began.
  case began(id: Job.ID, attempt: Int, at: UnixTime)
  /// An attempt failed. Without a time of the next attempt, the job is given up.
  case failed(id: Job.ID, JobFailure, retryAt: UnixTime?)
  /// An attempt succeeded, and its action did not remove the job.
  case finished(id: Job.ID, attempt: Int)
  /// A failed or waiting job starts when a run is free.
  case retry(Job.ID)
  /// A job is removed.
  case remove(Job.ID)
}

extension JobsAction: CustomStringConvertible {
  /// The name of the case with its job and its attempt, such as `failed(7, attempt: 2, "offline")`.
  public var description: String {
    switch self {
    case .began(let id, let attempt, _): "began(\(id), attempt: \(attempt))"
    case .failed(let id, let failure, _):
      "failed(\(id), attempt: \(failure.attempt), \"\(failure.description)\")"
    case .finished(let id, let attempt): "finished(\(id), attempt: \(attempt))"
    case .retry(let id): "retry(\(id))"
    case .remove(let id): "remove(\(id))"
    }
  }
}

extension JobsAction: Codable {
  private enum CodingKeys: CodingKey { case began, failed, finished, retry, remove }

  private enum PartKeys: CodingKey { case id, attempt, at, failure, retryAt }

  /// Decodes an object with one key, the name of the case.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    guard let key = container.allKeys.first, container.allKeys.count == 1 else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: decoder.codingPath, debugDescription: "An action of jobs has one name."))
    }
    if key == .retry || key == .remove {
      let id = try container.decode(Job.ID.self, forKey: key)
      self = key == .retry ? .retry(id) : .remove(id)
      return
    }
    let parts = try container.nestedContainer(keyedBy: PartKeys.self, forKey: key)
    let id = try parts.decode(Job.ID.self, forKey: .id)
    switch key {
    case .began:
      self = .began(
        id: id, attempt: try parts.decode(Int.self, forKey: .attempt),
        at: try parts.decode(UnixTime.self, forKey: .at))
    case .failed:
      self = .failed(
        id: id, try parts.decode(JobFailure.self, forKey: .failure),
        retryAt: try parts.decodeIfPresent(UnixTime.self, forKey: .retryAt))
    default: self = .finished(id: id, attempt: try parts.decode(Int.self, forKey: .attempt))
    }
  }

  /// Encodes an object with one key, the name of the case.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .began(let id, let attempt, let time):
      var parts = container.nestedContainer(keyedBy: PartKeys.self, forKey: .began)
      try parts.encode(id, forKey: .id)
      try parts.encode(attempt, forKey: .attempt)
      try parts.encode(time, forKey: .at)
    case .failed(let id, let failure, let time):
      var parts = container.nestedContainer(keyedBy: PartKeys.self, forKey: .failed)
      try parts.encode(id, forKey: .id)
      try parts.encode(failure, forKey: .failure)
      try parts.encodeIfPresent(time, forKey: .retryAt)
    case .finished(let id, let attempt):
      var parts = container.nestedContainer(keyedBy: PartKeys.self, forKey: .finished)
      try parts.encode(id, forKey: .id)
      try parts.encode(attempt, forKey: .attempt)
    case .retry(let id): try container.encode(id, forKey: .retry)
    case .remove(let id): try container.encode(id, forKey: .remove)
    }
  }
}
