public import Synchronization

/// The reads of a run of a computed value, and of the runs that it causes.
///
/// All of them read the state of one instant, `time`. While the change clock does not move, every
/// present value belongs to it. When the clock has moved, the session moves to the new instant if
/// nothing that it has read has changed. Otherwise it pins the values that it has read: no source
/// is ever read in two states.
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
    /// The time of the pass if its index has the reads of the previous run, or 0.
    var skipTime: UInt
    @usableFromInline let previousReads: DependencyList
  }

  @usableFromInline @exclusivity(unchecked) var time: UInt
  @usableFromInline @exclusivity(unchecked) var reads = DependencyBuffer()
  /// The innermost run in progress.
  @usableFromInline @exclusivity(unchecked) private(set) var frame = unsafe Frame(
    node: nil, previous: nil, id: 0, start: 0, skipTime: 0, previousReads: .empty)
  /// The publishers that it has read, if a graph shows the computed value.
  @exclusivity(unchecked) private var lineages: [Lineage] = []
  @usableFromInline @exclusivity(unchecked) var pins: PinnedValues?
  /// The pass that causes the runs, while the session is at its time.
  @exclusivity(unchecked) private var pass: UpdatePass?

  /// - Parameter pins: The values that the session must read.
  init(pins: PinnedValues? = nil) {
    unsafe time = ChangeClock.now
    unsafe self.pins = pins
  }

  deinit {
    unsafe reads.free()
  }

  /// Moves a session without reads to the time of a pass.
  func begin(_ pass: UpdatePass) {
    unsafe time = pass.time
    unsafe self.pass = pass
  }

  /// Returns the session, without references to what it has read.
  func rested() -> ReadSession {
    unsafe pass = nil
    return self
  }

  /// `true` if all values that were read belonged to `time`.
  var isExact: Bool { unsafe pins == nil }

  /// - Parameter isIndexed: `true` if the index of the pass has the dependencies of `previous`.
  func run(_ node: ComputedNode, after previous: Unmanaged<ComputedResult>?, isIndexed: Bool)
    -> ComputedResult
  {
    let outer = unsafe frame
    unsafe frame = Frame(
      node: .passUnretained(node), previous: previous, id: UniqueNumber.next(),
      start: reads.count, skipTime: isIndexed ? pass?.time ?? 0 : 0,
      previousReads: previous?._withUnsafeGuaranteedRef { $0.dependencies } ?? .empty)
    defer {
      unsafe frame = outer
      if unsafe pass == nil { unsafe frame.skipTime = 0 }
    }
    guard let watch = node.label.lineage?.computed else { return node.work(self) }
    var outerLineages: [Lineage] = []
    unsafe swap(&lineages, &outerLineages)
    let result = watch.measure { node.work(self) }
    unsafe swap(&lineages, &outerLineages)
    watch.haveRead(outerLineages)
    return result
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
    unsafe FinishedRun(
      id: frame.id, dependencies: reads.removeAll(from: frame.start), previous: frame.previous)
  }

  @inlinable
  func read<Value>(_ storage: PropertyStorage<Value>) -> Value {
    if unsafe pins != nil { return readPinned(storage) }
    let record = known(storage) ?? storage.record
    if unsafe ChangeClock.now != time, isOvertaken(by: record) { return readPinned(storage) }
    append(record, reader: storage.reader)
    return record.value
  }

  /// Returns `true` if values are pinned now, so the record may not fit.
  @usableFromInline
  func isOvertaken(by next: ValueRecord) -> Bool { !move(with: .value(next)) }

  @usableFromInline @inline(never)
  func readPinned<Value>(_ storage: PropertyStorage<Value>) -> Value {
    guard let record = unsafe pins?.record(of: storage) else { return storage.current }
    append(record, reader: storage.reader)
    return record.value
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
    UntrackedOrigin.storage(of: publisher).map { read($0) }
  }

  @usableFromInline
  func read(_ node: ComputedNode) -> ComputedResult {
    if unsafe pins == nil, let known = previousRead, known.isResult(of: node), isPresent(known) {
      if isFirstRead(node.reader) { unsafe reads.append(known.retained()) }
      return known.result
    }
    if unsafe pins == nil, let result = unsafe node.presentResult(at: time) {
      if isFirstRead(node.reader) { unsafe reads.append(Dependency(node, result)) }
      return result
    }
    var result: ComputedResult
    if let pins = unsafe pins {
      result = pins.result(of: node, in: self)
    } else {
      result = node.evaluate(in: self, pass(for: node)).result
      if let pins = unsafe pins {
        pins.keep(result, of: node)
      } else if unsafe ChangeClock.now != time, !move(with: .computed(node, result)),
        let pins = unsafe pins
      {
        result = pins.result(of: node, in: self)
      }
    }
    if isFirstRead(node.reader) { unsafe reads.append(Dependency(node, result)) }
    return result
  }

  /// Returns `true` if the result is known to be correct at the time of the session.
  private func isPresent(_ result: Dependency) -> Bool {
    unsafe result.isPresent(at: time, frame.skipTime)
  }

  private func pass(for node: ComputedNode) -> UpdatePass? {
    guard let pass = unsafe pass, pass.contains(node) else { return nil }
    return pass
  }

  /// The read of the previous run at the place of the next read.
  ///
  /// Successive runs usually read the same values in the same order.
  @inlinable var previousRead: Dependency? {
    let index = unsafe reads.count - frame.start
    return unsafe index < frame.previousReads.count ? frame.previousReads[index] : nil
  }

  /// Returns the computed value that the previous run used for the publisher, or a new one.
  @usableFromInline
  func known<Value, Kind>(_ publisher: Publisher<Value, Kind>) -> ComputedNode {
    guard case .computed(let node, _) = previousRead?.content,
      node.derivation == PublisherIdentity(publisher)
    else { return ComputedNode(deriving: publisher) }
    return node
  }

  /// Returns the record of the previous run or of the pass, if it is still present.
  @inlinable
  func known<Value>(_ storage: PropertyStorage<Value>) -> TypedValueRecord<Value>? {
    guard storage.origin == nil, let record = knownRecord(of: storage) else { return nil }
    return unsafe unsafeDowncast(record, to: TypedValueRecord<Value>.self)
  }

  @usableFromInline
  func knownRecord(of storage: VersionedStorage) -> ValueRecord? {
    if let record = previousRead?.record(of: storage), record.isPresent { return record }
    guard let change = unsafe pass?.change else { return nil }
    return unsafe change._withUnsafeGuaranteedRef {
      $0.storage === storage && $0.isPresent ? $0 : nil
    }
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

  /// Moves to the present instant, or pins all values that were read.
  ///
  /// - Parameter next: A value that is being read.
  /// - Returns: `false` if values are pinned now, so `next` may not fit.
  private func move(with next: Dependency.Content) -> Bool {
    let now = ChangeClock.now
    unsafe pass = nil
    unsafe frame.skipTime = 0
    let pins = PinnedValues()
    for index in 0..<(unsafe reads.count) { unsafe pins.keep(reads[index]) }
    let all = PinnedValues(pins)
    all.keep(next)
    if all.arePresent {
      unsafe time = now
      return true
    }
    unsafe self.pins = pins
    return false
  }
}
