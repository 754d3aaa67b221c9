/// A computed value or a source in an index.
///
/// Not copyable, because a copy would retain all of its objects.
struct IndexEntry: ~Copyable {
  /// A read of an entry.
  struct Link {
    let reader: EntryID
    /// The index in `children` of the reader.
    let slot: Int32
  }

  enum Phase {
    /// Up to date.
    case clean
    /// A change may affect it, or it has not run yet.
    case marked
    /// Its closure runs, or its dependencies are compared.
    case running
  }

  /// The identity of the storage or the computed value, or `nil` if the entry was removed.
  let identity: ObjectIdentifier?
  /// The storage or the computed value.
  private let object: AnyObject?
  /// The storage of a source.
  let storage: UnretainedReference<VersionedStorage>?
  /// The computed value, or `nil` for a source.
  let node: UnretainedReference<ComputedNode>?

  // The properties of a source.
  var input = Subscription.ended
  /// The value that was read first, or delivered last.
  var record: ValueRecord?
  /// The version of `record` when it was read or delivered.
  ///
  /// The record may be found to be equal to a later value.
  var knownVersion: UInt = 0

  // The properties of a computed value.
  var result: ComputedResult?
  /// The dependencies of the result, in the order of the reads.
  fileprivate(set) var children: [EntryID] = []
  /// For each child, the index of the link to this entry in the child's `links`.
  fileprivate var positions: [Int32] = []
  /// `true` if the children are the sources that the result depends on at any depth, because the index
  /// takes the result of another reader with all results below it.
  var isCollapsed = false
  /// The number of successive results that it took from other readers, and the number that collapses
  /// it.
  ///
  /// The limit doubles with each expansion, so the work for both is amortized O(1) per pass.
  var takes = (count: 0, limit: 4)
  /// The place of the first child that a change may affect.
  var firstMarked = 0
  var phase = Phase.clean

  // The properties of both.
  fileprivate(set) var links: [Link] = []
  /// The last pass that changed its value.
  var changedPass: UInt = 0
  /// The last pass after which its result depends on values at other places.
  var movedPass: UInt = 0
  /// The last run that read it.
  var readRun: UInt = 0

  static var removed: IndexEntry { IndexEntry(nil) }

  private init(
    _ object: AnyObject?, storage: VersionedStorage? = nil, node: ComputedNode? = nil
  ) {
    identity = object.map(ObjectIdentifier.init)
    self.object = object
    self.storage = storage.map { UnretainedReference($0) }
    self.node = node.map { UnretainedReference($0) }
  }

  init(of storage: VersionedStorage) {
    self.init(storage, storage: storage)
  }

  init(of node: ComputedNode) {
    self.init(node, node: node)
    phase = .marked
  }

  /// The record, which the entry retains until the next change.
  var knownRecord: UnretainedReference<ValueRecord>? {
    @inline(__always) get { record.map { UnretainedReference($0) } }
  }

  /// The result, which the entry retains until the next change.
  var knownResult: UnretainedReference<ComputedResult>? {
    @inline(__always) get { result.map { UnretainedReference($0) } }
  }

  /// The entry as a dependency of its readers, which retains its objects.
  var dependency: Dependency {
    if let record = knownRecord { return record.use { Dependency($0) } }
    guard let node, let result = knownResult else { misuse("A dependency has no value.") }
    return Dependency(node, result)
  }

  /// Returns `true` if a dependency has the same source with an equal value.
  func isEqual(to dependency: Dependency) -> Bool {
    if let record = knownRecord {
      return record.use { record in dependency.withRecord { $0.isSame(as: record) } }
    }
    guard let result = knownResult else { return false }
    return result.use { result in
      dependency.withResult { other in
        other === result || dependency.withNode { $0.areEqual(other, result) }
      }
    }
  }

  /// Returns `true` if the result of a dependency depends on other places than the present one.
  func hasMoved(since dependency: Dependency) -> Bool {
    guard let result = knownResult else { return false }
    return result.use { result in dependency.withResult { $0.hasMoved(to: result) } }
  }

  /// `true` if another reader has found a result.
  var hasOtherResult: Bool {
    node?.use { $0.lastResult != knownResult?.address ?? 0 } ?? false
  }
}

extension EntryTable {
  /// Marks the reader of a changed entry.
  ///
  /// Returns `false` if it is marked already.
  func mark(_ link: IndexEntry.Link) -> Bool {
    let (reader, slot) = (link.reader, Int(link.slot))
    if self[reader].phase == .clean {
      self[reader].phase = .marked
      self[reader].firstMarked = slot
      return true
    }
    if slot < self[reader].firstMarked { self[reader].firstMarked = slot }
    return false
  }

  /// Makes room for the children of an entry.
  func reserve(_ count: Int, of reader: EntryID) {
    if !self[reader].children.isEmpty { return }
    self[reader].children.reserveCapacity(count)
    self[reader].positions.reserveCapacity(count)
  }

  func link(_ child: EntryID, to reader: EntryID) {
    let slot = Int32(self[reader].children.count)
    self[reader].positions.append(Int32(self[child].links.count))
    self[child].links.append(IndexEntry.Link(reader: reader, slot: slot))
    self[reader].children.append(child)
  }

  /// Removes the last child, and returns it.
  func unlinkLast(of reader: EntryID) -> EntryID {
    let child = self[reader].children.removeLast()
    let position = self[reader].positions.removeLast()
    let last = self[child].links.removeLast()
    if Int(position) < self[child].links.count {
      self[child].links[Int(position)] = last
      self[last.reader].positions[Int(last.slot)] = position
    }
    return child
  }
}
