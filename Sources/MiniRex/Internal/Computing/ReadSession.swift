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
final class ReadSession {
  /// A run in progress, whose caller retains the objects.
  @safe @usableFromInline
  struct Frame {
    let node: Unmanaged<ComputedNode>?
    let previous: Unmanaged<ComputedResult>?
    /// The number of the run, or 0.
    @usableFromInline let id: UInt
    /// The index of its first read.
    @usableFromInline let start: Int
    @usableFromInline let previousReads: DependencyList
  }

  @usableFromInline @exclusivity(unchecked) var time: UInt
  @usableFromInline @exclusivity(unchecked) var reads = DependencyBuffer()
  /// The innermost run in progress.
  @usableFromInline @exclusivity(unchecked) private(set) var frame = unsafe Frame(
    node: nil, previous: nil, id: 0, start: 0, previousReads: .empty)
  /// The publishers that it has read, if a graph shows the computed value.
  @exclusivity(unchecked) private var lineages: [Lineage] = []
  /// The index that it reads in, if it does not read the present values.
  @usableFromInline @exclusivity(unchecked) private(set) var index: DependencyIndex?
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

  deinit {
    unsafe reads.free()
  }

  /// `true` if all values that were read belonged to `time`.
  var isExact: Bool { unsafe index == nil }

  /// Reads in an index.
  func reading<Result>(_ index: DependencyIndex, _ body: () -> Result) -> Result {
    unsafe self.index = index
    defer { unsafe self.index = nil }
    return body()
  }

  func run(_ node: ComputedNode, after previous: ComputedResult?) -> ComputedResult {
    let outer = unsafe frame
    unsafe frame = Frame(
      node: .passUnretained(node),
      previous: previous.map { unsafe .passUnretained($0) }, id: nextRun(), start: reads.count,
      previousReads: previous?.dependencies ?? .empty)
    defer {
      unsafe frame = outer
      withExtendedLifetime(previous) {}
    }
    guard let watch = node.label.lineage?.computed else {
      let result = node.run(in: self)
      if _isDebugAssertConfiguration(), previous == nil { node.checkReads(of: result) }
      return result
    }
    var outerLineages: [Lineage] = []
    unsafe swap(&lineages, &outerLineages)
    let result = watch.measure { node.run(in: self) }
    unsafe swap(&lineages, &outerLineages)
    watch.haveRead(outerLineages)
    if _isDebugAssertConfiguration(), previous == nil { node.checkReads(of: result) }
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
    if unsafe frame.node?._withUnsafeGuaranteedRef({ $0.label.lineage?.computed }) == nil { return }
    unsafe lineages.append(lineage)
  }

  /// Takes the reads of the run in progress, which returns afterward.
  @usableFromInline
  func finishRun() -> FinishedRun {
    let dependencies: DependencyList
    if let index = unsafe index, index.isRunning {
      dependencies = index.finishRun(in: self)
    } else {
      dependencies = unsafe reads.removeAll(from: frame.start)
    }
    return unsafe FinishedRun(id: frame.id, dependencies: dependencies, previous: frame.previous)
  }

  /// Makes a list of dependencies that no run has read.
  func collect(_ add: (inout DependencyBuffer) -> Void) -> DependencyList {
    let start = unsafe reads.count
    unsafe add(&reads)
    return unsafe reads.removeAll(from: start)
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
    let record = indexedRecord(of: storage)
    return unsafe unsafeDowncast(record, to: TypedValueRecord<Value>.self).value
  }

  /// Reads the value of a publisher.
  ///
  /// A function of other values is a separate computed value, so that an equal result is no
  /// change.
  @inlinable
  func read<Value, Kind>(_ publisher: Publisher<Value, Kind>) -> Value? {
    switch publisher.currentValue {
    case .property(let storage): read(storage)
    case .computed(let node): read(node).value(of: Value.self)
    case .derived: read(known(publisher)).value(of: Value?.self)
    case .untracked: readUntracked(publisher)
    }
  }

  @usableFromInline
  func readUntracked<Value, Kind>(_ publisher: Publisher<Value, Kind>) -> Value? {
    UntrackedOrigin.storage(of: publisher, last: lastStorage).map { read($0) }
  }

  @usableFromInline
  func read(_ node: ComputedNode) -> ComputedResult {
    if unsafe index == nil {
      if let known = previousRead, known.isResult(of: node), known.result.isCorrect(at: unsafe time)
      {
        if isFirstRead(node.reader) { unsafe reads.append(known.retained()) }
        return known.result
      }
      let result = result(of: node)
      if unsafe index == nil, let result {
        if isFirstRead(node.reader) { unsafe reads.append(Dependency(node, result)) }
        return result
      }
      // A run that reads this one, but in another state, is no cycle.
      let index = pin()
      if let result { index.keep(result, of: node) }
    }
    return indexedResult(of: node)
  }

  @usableFromInline
  func indexedRecord(of storage: VersionedStorage) -> ValueRecord {
    let index = pin()
    let id = unsafe index.read(ObjectIdentifier(storage), in: frame.id) { index.source(storage) }
    guard let record = index.table[id].record else { misuse("A source has no value.") }
    if !index.isRunning { append(record, reader: storage.reader) }
    return record
  }

  private func indexedResult(of node: ComputedNode) -> ComputedResult {
    let index = pin()
    let id = unsafe index.read(ObjectIdentifier(node), in: frame.id) { index.value(node) }
    let result = index.result(of: id, in: self)
    if !index.isRunning, isFirstRead(node.reader) {
      unsafe reads.append(Dependency(node, result))
    }
    return result
  }

  /// The storage that the previous run read at the place of the next read.
  private var lastStorage: VersionedStorage? {
    if let index = unsafe index, index.isRunning {
      return index.nextChild.flatMap { index.table[$0].storage }
    }
    if case .value(let record) = previousRead?.content { return record.storage }
    return nil
  }

  /// The read of the previous run at the place of the next read.
  ///
  /// Successive runs usually read the same values in the same order.
  @inlinable var previousRead: Dependency? {
    let position = unsafe reads.count - frame.start
    return unsafe position < frame.previousReads.count ? frame.previousReads[position] : nil
  }

  /// Returns the computed value that the previous run used for the publisher, or a new one.
  @usableFromInline
  func known<Value, Kind>(_ publisher: Publisher<Value, Kind>) -> ComputedNode {
    let identity = PublisherIdentity(publisher)
    let node: ComputedNode?
    if let index = unsafe index, index.isRunning {
      node = index.nextChild.flatMap { index.table[$0].node }
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
  private func pin() -> DependencyIndex {
    if let index = unsafe index { return index }
    let new = DependencyIndex()
    for position in 0..<(unsafe reads.count) { new.keep(unsafe reads[position]) }
    unsafe index = new
    return new
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
      let result = dependency.result
      if !result.isCorrect(at: time), known.insert(ObjectIdentifier(result)).inserted {
        open.append(result)
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
