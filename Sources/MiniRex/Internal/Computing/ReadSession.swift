public import Synchronization

/// The reads of a run of a computed value, and of the runs that it causes.
///
/// A session reads the state of one instant, `time`. A value belongs to it if it has not changed
/// since. If a value that it reads is newer, the session moves to the present instant, if nothing
/// that it has read has changed. Otherwise it continues to read in an index of the values that it
/// has read: no source is ever read in two states. A session of a subscription always reads in the
/// index of the subscription.
///
/// One thread uses it.
@usableFromInline
package final class ReadSession {
  /// A run in progress, whose caller retains the objects.
  @usableFromInline
  struct Frame {
    let node: UnretainedReference<ComputedNode>?
    @usableFromInline let previous: UnretainedReference<ComputedResult>?
    /// The number of the run, or 0.
    @usableFromInline let id: UInt
    /// The index of its first read.
    @usableFromInline let start: Int
  }

  @usableFromInline @exclusivity(unchecked) var time: UInt
  @usableFromInline @exclusivity(unchecked) var reads = DependencyBuffer()
  /// The innermost run in progress.
  @usableFromInline @exclusivity(unchecked) private(set) var frame = Frame(
    node: nil, previous: nil, id: 0, start: 0)
  /// The publishers that it has read, if a graph shows the computed value.
  @exclusivity(unchecked) private var lineages: [Lineage] = []
  /// The index that it reads in, if it does not read the present values.
  @usableFromInline @exclusivity(unchecked)
  private(set) var index: UnretainedReference<DependencyIndex>?
  @exclusivity(unchecked) private var retainedIndex: DependencyIndex?
  @exclusivity(unchecked) private var openInspections: [Inspection] = []
  /// The result that the last inspection waits for.
  @exclusivity(unchecked) private var lastInspected: ComputedResult?
  @exclusivity(unchecked) private var lastRun = ReadSession.newRuns()

  /// The computed values whose dependencies are inspected.
  ///
  /// Each waits for the next.
  var inspections: [Inspection] {
    @inline(__always) _read { yield unsafe openInspections }
    @inline(__always) _modify { yield unsafe &openInspections }
  }

  var inspected: ComputedResult? {
    get { unsafe lastInspected }
    _modify { yield unsafe &lastInspected }
  }

  init() {
    unsafe time = ChangeClock.now
  }

  /// Creates a session that always reads in an index.
  convenience init(in index: DependencyIndex) {
    self.init()
    read(in: index)
  }

  private func read(in index: DependencyIndex) {
    unsafe self.index = UnretainedReference(index)
    unsafe retainedIndex = index
  }

  deinit {
    unsafe reads.free()
  }

  /// `true` if all values that were read belonged to `time`.
  var isExact: Bool { unsafe index == nil }

  /// Runs a closure whose objects the caller retains.
  func run(
    _ node: UnretainedReference<ComputedNode>, after previous: UnretainedReference<ComputedResult>?
  ) -> ComputedResult {
    let outer = unsafe frame
    unsafe frame = Frame(node: node, previous: previous, id: nextRun(), start: reads.count)
    defer { unsafe frame = outer }
    guard let watch = node.use({ $0.label.lineage?.computed }) else {
      let result = node.use { $0.run(in: self) }
      inDebugBuild { if previous == nil { node.use { $0.checkReads(of: result) } } }
      return result
    }
    var outerLineages: [Lineage] = []
    unsafe swap(&lineages, &outerLineages)
    let result = watch.measure { node.use { $0.run(in: self) } }
    unsafe swap(&lineages, &outerLineages)
    watch.haveRead(outerLineages)
    inDebugBuild { if previous == nil { node.use { $0.checkReads(of: result) } } }
    return result
  }

  /// Numbers of runs never repeat in the process, but sessions do not share a counter.
  private static func newRuns() -> UInt { UniqueNumber.next() << 20 }

  private func nextRun() -> UInt {
    unsafe lastRun += 1
    if unsafe lastRun & 0xF_FFFF == 0 { unsafe lastRun = ReadSession.newRuns() + 1 }
    return unsafe lastRun
  }

  /// Records a publisher for the graph that shows the computed value.
  @usableFromInline
  func note(_ lineage: Lineage) {
    if unsafe frame.node?.use({ $0.label.lineage?.computed }) == nil { return }
    unsafe lineages.append(lineage)
  }

  /// Takes the reads of the run in progress, which returns afterward.
  @usableFromInline
  func finishRun() -> FinishedRun {
    let indexed = unsafe index?.use { $0.isRunning ? $0.finishRun() : nil }
    let dependencies = unsafe indexed.flatMap { $0 } ?? reads.removeAll(from: frame.start)
    return unsafe FinishedRun(id: frame.id, dependencies: dependencies, previous: frame.previous)
  }

  // MARK: Reading

  @inlinable
  func read<Value>(_ storage: PropertyStorage<Value>) -> Value {
    if unsafe index == nil {
      let record = known(storage) ?? storage.record
      if includes(record) {
        append(record, reader: storage.reader)
        return record.value
      }
    }
    return indexedRecord(of: storage).use { $0.value(of: Value.self) }
  }

  /// Reads the value of a publisher.
  ///
  /// A function of other values is a separate computed value, so that an equal result is no
  /// change.
  @inlinable
  func read<Value, Kind>(_ publisher: Publisher<Value, Kind>) -> Value? {
    switch publisher.currentValue {
    case .property(let storage): read(storage)
    case .computed(let node): read(node, as: Value.self)
    case .derived: read(known(publisher), as: Value?.self)
    case .untracked: readUntracked(publisher)
    }
  }

  @usableFromInline
  func readUntracked<Value, Kind>(_ publisher: Publisher<Value, Kind>) -> Value? {
    UntrackedOrigin.storage(of: publisher, last: lastStorage).map { read($0) }
  }

  @inlinable
  func read<Value: Sendable>(_ node: ComputedNode, as _: Value.Type) -> Value {
    if let known = known(node) { return known.use { $0.value(of: Value.self) } }
    return newResult(of: node).value(of: Value.self)
  }

  /// Returns the result in the index, or the result of the previous run if it is still correct.
  ///
  /// The index or the previous run retains it.
  @usableFromInline
  func known(_ node: ComputedNode) -> UnretainedReference<ComputedResult>? {
    if unsafe index != nil { return indexedResult(of: node) }
    guard let known = previousRead, known.isResult(of: node),
      known.withResult({ $0.isCorrect(at: unsafe time) })
    else { return nil }
    if isFirstRead(node.reader) { unsafe reads.append(known.retained()) }
    return known.result
  }

  @usableFromInline
  func newResult(of node: ComputedNode) -> ComputedResult {
    let result = result(of: node)
    if unsafe index == nil, let result {
      if isFirstRead(node.reader) {
        unsafe reads.append(Dependency(UnretainedReference(node), UnretainedReference(result)))
      }
      return result
    }
    // A run that reads this one, but in another state, is no cycle.
    let index = pin()
    if let result { index.use { _ = $0.keep(result, of: node) } }
    return indexedResult(of: node).use { $0 }
  }

  @usableFromInline
  func indexedRecord(of storage: VersionedStorage) -> UnretainedReference<ValueRecord> {
    pin().use { index in
      let id = unsafe index.read(ObjectIdentifier(storage), in: frame.id) { index.source(storage) }
      guard let record = index.table[id].knownRecord else { misuse("A source has no value.") }
      if !index.isRunning { record.use { append($0, reader: storage.reader) } }
      return record
    }
  }

  private func indexedResult(of node: ComputedNode) -> UnretainedReference<ComputedResult> {
    pin().use { index in
      let id = unsafe index.read(ObjectIdentifier(node), in: frame.id) { index.value(node) }
      let result = index.result(of: id, in: self)
      if !index.isRunning, isFirstRead(node.reader) {
        unsafe reads.append(Dependency(UnretainedReference(node), result))
      }
      return result
    }
  }

  /// The storage that the previous run read at the place of the next read.
  private var lastStorage: VersionedStorage? {
    if let index = unsafe index, index.use({ $0.isRunning }) { return index.use { $0.nextStorage } }
    if case .value(let record) = previousRead?.content { return record.storage }
    return nil
  }

  /// The read of the previous run at the place of the next read.
  ///
  /// Successive runs usually read the same values in the same order.
  @inlinable var previousRead: Dependency? {
    let position = unsafe reads.count - frame.start
    let read = unsafe frame.previous?.use {
      position < $0.dependencies.endIndex ? $0.dependencies[position] : nil
    }
    return read.flatMap { $0 }
  }

  /// Returns the computed value that the previous run used for the publisher, or a new one.
  @usableFromInline
  func known<Value, Kind>(_ publisher: Publisher<Value, Kind>) -> ComputedNode {
    let identity = PublisherIdentity(publisher)
    let node: ComputedNode?
    if let index = unsafe index, index.use({ $0.isRunning }) {
      node = index.use { $0.nextNode }
    } else if case .computed(let known, _) = previousRead?.content {
      node = known
    } else {
      node = nil
    }
    if let node, node.derivation == identity { return node }
    return ComputedNode(deriving: publisher)
  }

  /// Returns the record of the previous run, if it is still present.
  @inlinable
  func known<Value>(_ storage: PropertyStorage<Value>) -> TypedValueRecord<Value>? {
    guard storage.origin == nil, let record = previousRead?.record(of: storage), record.isPresent
    else { return nil }
    return unsafe unsafeDowncast(record, to: TypedValueRecord<Value>.self)
  }

  /// Adds a read, unless this run has it already.
  @inlinable
  func append(_ record: ValueRecord, reader: borrowing Atomic<UInt>) {
    if isFirstRead(reader) { unsafe reads.append(Dependency(record)) }
  }

  @inlinable
  func isFirstRead(_ reader: borrowing Atomic<UInt>) -> Bool {
    let run = unsafe frame.id
    if reader.load(ordering: .relaxed) == run { return false }
    reader.store(run, ordering: .relaxed)
    return true
  }

  // MARK: Instants

  /// Returns `true` if a present record belongs to the instant of the session, which may move.
  @inlinable
  func includes(_ record: ValueRecord) -> Bool {
    let version = record.version.load(ordering: .relaxed)
    // A value without a version is inspected again by its next reader.
    if version == .max { return true }
    return unsafe version <= time || move(with: record)
  }

  /// Moves to the present instant, or reads in an index from now on.
  @usableFromInline
  func move(with next: ValueRecord) -> Bool {
    let now = ChangeClock.now
    if next.isPresent(at: now), unsafe reads.arePresent(at: now) {
      unsafe time = now
      return true
    }
    _ = pin()
    return false
  }

  /// Returns the index of the session, which has all values that were read.
  private func pin() -> UnretainedReference<DependencyIndex> {
    if let index = unsafe index { return index }
    let new = DependencyIndex()
    for position in 0..<(unsafe reads.count) { new.keep(unsafe reads[position]) }
    read(in: new)
    return UnretainedReference(new)
  }
}

extension ValueRecord {
  /// Returns `true` if the storage has this value now, and had it at this time.
  final func isPresent(at time: UInt) -> Bool {
    let known = version.load(ordering: .relaxed)
    return known <= time && storage.version.load(ordering: .acquiring) == known
  }
}

extension DependencyBuffer {
  /// Returns `true` if all values, at any depth, belong to this time.
  fileprivate func arePresent(at time: UInt) -> Bool {
    var open: [ComputedResult] = []
    var known: Set<ObjectIdentifier> = []
    func isPresent(_ dependency: Dependency) -> Bool {
      if !dependency.isComputed { return dependency.withRecord { $0.isPresent(at: time) } }
      dependency.withResult { result in
        if !result.isCorrect(at: time), known.insert(ObjectIdentifier(result)).inserted {
          open.append(result)
        }
      }
      return true
    }
    for index in 0..<count where !isPresent(self[index]) { return false }
    var inspected: [ComputedResult] = []
    while let result = open.popLast() {
      inspected.append(result)
      for dependency in result.dependencies where !isPresent(dependency) { return false }
    }
    for result in inspected { result.wasCorrect(at: time) }
    return true
  }
}
