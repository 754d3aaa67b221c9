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
  @exclusivity(unchecked) private var lastRun: UInt = 0

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
  private func nextRun() -> UInt {
    let isUsed = unsafe lastRun == 0 || lastRun & 0xF_FFFF == 0xF_FFFF
    if isUsed { unsafe lastRun = UniqueNumber.next() << 20 }
    unsafe lastRun += 1
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
    if let index = unsafe index, index.use({ $0.isRunning }) {
      let (dependencies, hasShape) = index.use { $0.finishRun() }
      return unsafe FinishedRun(
        id: frame.id, dependencies: dependencies, previous: frame.previous, hasShape: hasShape)
    }
    return unsafe FinishedRun(
      id: frame.id, dependencies: reads.removeAll(from: frame.start), previous: frame.previous,
      hasShape: nil)
  }

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
  func pin() -> UnretainedReference<DependencyIndex> {
    if let index = unsafe index { return index }
    let new = DependencyIndex()
    unsafe new.keep((0..<reads.count).map { unsafe reads[$0].content }, at: time)
    read(in: new)
    return UnretainedReference(new)
  }
}
