internal import MiniRex

extension Jobs: RandomAccessCollection {
  /// Zero.
  public var startIndex: Int { 0 }

  /// The number of jobs.
  public var endIndex: Int { nodes.count }

  /// Accesses the job at a position, in the order of addition, in O(log n).
  ///
  /// Traps if the position does not exist.
  public subscript(position: Int) -> JobEntry<Job> {
    if position < 0 || position >= nodes.count {
      misuse("'jobs[\(position)]' requires a position from 0 to \(nodes.count - 1).")
    }
    return nodes[position].box.entry
  }

  /// Visits the jobs in the order of addition, in O(n).
  public func makeIterator() -> AnyIterator<JobEntry<Job>> {
    var nodes = nodes.makeIterator()
    return AnyIterator { nodes.next()?.box.entry }
  }
}

extension Jobs: Equatable where Job: Equatable {
  /// Returns `true` if both contain equal jobs in the same order.
  ///
  /// Comparing unchanged copies is O(1).
  public static func == (one: Jobs, other: Jobs) -> Bool {
    one.nodes.root === other.nodes.root || one.elementsEqual(other)
  }
}

extension Jobs: Codable {
  /// Decodes jobs from an array.
  ///
  /// The first job with an ID wins.
  public init(from decoder: any Decoder) throws {
    self.init()
    var container = try decoder.unkeyedContainer()
    while !container.isAtEnd {
      add(try container.decode(JobEntry<Job>.self), replacing: .never)
    }
  }

  /// Encodes the jobs as an array.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for entry in self { try container.encode(entry) }
  }
}

extension JobEntry: Codable where Job: Codable {
  private enum CodingKeys: CodingKey {
    case job, attempts, waitsUntil, runsSince, isFailed, failure
  }

  /// Decodes a job.
  ///
  /// Everything except the job may be missing.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func value<Value: Decodable>(_ type: Value.Type, _ key: CodingKeys) throws -> Value? {
      try container.decodeIfPresent(type, forKey: key)
    }
    self.init(
      try container.decode(Job.self, forKey: .job), notBefore: try value(UnixTime.self, .waitsUntil)
    )
    // A limit, so that later attempts are representable.
    attempts = min(max(0, try value(Int.self, .attempts) ?? 0), 1 << 48)
    failure = try value(JobFailure.self, .failure)
    if let since = try value(UnixTime.self, .runsSince) {
      status = .running(since: since)
      attempts = max(1, attempts)
    }
    if try value(Bool.self, .isFailed) == true { status = .failed }
  }

  /// Encodes the job, and what differs from a new job.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(job, forKey: .job)
    if attempts > 0 { try container.encode(attempts, forKey: .attempts) }
    switch status {
    case .pending: break
    case .waiting(let time): try container.encode(time, forKey: .waitsUntil)
    case .running(let time): try container.encode(time, forKey: .runsSince)
    case .failed: try container.encode(true, forKey: .isFailed)
    }
    try container.encodeIfPresent(failure, forKey: .failure)
  }
}

extension Jobs: CustomStringConvertible, CustomReflectable {
  /// The jobs in the format of an array.
  public var description: String { "\(Array(self))" }

  /// A mirror of the jobs, without the indexes.
  public var customMirror: Mirror {
    Mirror(self, unlabeledChildren: Array(self), displayStyle: .collection)
  }
}
