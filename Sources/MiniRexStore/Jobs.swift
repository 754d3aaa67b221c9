/// Work that survives the process, as a value of the state.
///
/// ```swift
/// case .ordered(let order):
///   shop.orders.append(order)
///   shop.charges.add(Charge(order))  // the same commit
/// ```
///
/// A reducer adds and removes jobs. ``Store/perform(_:_:atMost:order:retrying:clock:now:_:)`` runs them,
/// and commits their attempts and failures. Because jobs are state, a journal keeps them, and after a
/// restart every job that is still there runs again. See <doc:WorkThatSurvives>.
///
/// It is a collection of ``JobEntry`` in the order of addition, coded like an array. IDs are unique. Adding,
/// removing, finding, and each ``reduce(_:)`` take O(log n), even while copies of earlier values exist.
public struct Jobs<Job: Codable & Identifiable & Sendable>: Sendable
where Job.ID: Codable & Sendable {
  /// The jobs in the order of addition.
  var nodes = JobTree<Job>()
  /// The numbers of the jobs by the hashes of their IDs.
  var hashes = PositionTree<HashedJob, Never>()
  var nextNumber = 0

  /// The numbers of jobs by their condition, in O(1).
  public private(set) var counts = JobCounts()

  /// Creates an empty value.
  public init() {}

  /// Adds a job.
  ///
  /// By default, a job with a known ID replaces the known job before its first attempt, in its place, and is
  /// ignored afterward.
  ///
  /// - Parameters:
  ///   - job: The job.
  ///   - time: The earliest time of its first attempt. By default, it starts when a run is free. It must come from
  ///     the action, because a reducer must not read a clock.
  ///   - replacing: The known jobs that it replaces.
  /// - Returns: `false` if the job is ignored.
  @discardableResult
  public mutating func add(
    _ job: Job, notBefore time: UnixTime? = nil, replacing: JobReplacing = .beforeFirstAttempt
  ) -> Bool {
    add(JobEntry(job, notBefore: time), replacing: replacing)
  }

  /// Removes a job, which cancels its run.
  ///
  /// - Returns: The job, or `nil` if no job has the ID.
  @discardableResult
  public mutating func remove(_ id: Job.ID) -> Job? {
    guard let place = place(of: id) else { return nil }
    let entry = nodes.remove(at: place.position).box.entry
    hashes.remove(at: place.hashPosition)
    counts[entry.status] -= 1
    return entry.job
  }

  /// Starts a job that was given up, or that waits for a time, when a run is free.
  ///
  /// Its attempts continue to count.
  ///
  /// - Returns: `false` if no such job has the ID.
  @discardableResult
  public mutating func retry(_ id: Job.ID) -> Bool {
    change(id) { entry in
      switch entry.status {
      case .failed, .waiting: entry.status = .pending
      case .pending, .running: return false
      }
      return true
    }
  }

  /// Returns the job with the given ID, with its attempts and its failure.
  public subscript(id id: Job.ID) -> JobEntry<Job>? {
    place(of: id).map { nodes[$0.position].box.entry }
  }

  @discardableResult
  mutating func add(_ entry: JobEntry<Job>, replacing: JobReplacing) -> Bool {
    let id = entry.id
    guard place(of: id) == nil else {
      return change(id) { known in
        switch replacing {
        case .never: return false
        case .beforeFirstAttempt: if known.attempts > 0 { return false }
        case .always: break
        }
        known = entry
        return true
      }
    }
    let hashed = HashedJob(hash: id.hashValue, number: nextNumber)
    nodes.insert(JobNode(number: nextNumber, box: JobBox(entry)), at: nodes.count)
    hashes.insert(hashed, at: hashes.partition { $0 >= hashed })
    counts[entry.status] += 1
    nextNumber += 1
    return true
  }

  /// Changes the entry of a job, and returns `true` if it has changed.
  ///
  /// - Parameter change: Returns `false` if it has not changed the entry.
  @discardableResult
  mutating func change(_ id: Job.ID, _ change: (inout JobEntry<Job>) -> Bool) -> Bool {
    guard let place = place(of: id) else { return false }
    let node = nodes[place.position]
    var entry = node.box.entry
    guard change(&entry) else { return false }
    counts[node.box.entry.status] -= 1
    counts[entry.status] += 1
    nodes[place.position] = JobNode(number: node.number, box: JobBox(entry))
    return true
  }

  private func place(of id: Job.ID) -> (position: Int, hashPosition: Int)? {
    let hash = id.hashValue
    var (index, element) = hashes.search { $0.hash >= hash }
    while let hashed = element, hashed.hash == hash {
      let position = nodes.partition { $0.number >= hashed.number }
      if nodes[position].box.entry.id == id { return (position, index) }
      index += 1
      element = index < hashes.count ? hashes[index] : nil
    }
    return nil
  }

  /// Returns the entry with a number.
  func node(_ number: Int) -> JobNode<Job>? {
    let node = nodes.search { $0.number >= number }.element
    return node?.number == number ? node : nil
  }
}
