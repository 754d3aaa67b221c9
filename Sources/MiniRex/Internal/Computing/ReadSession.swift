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
  /// A run in progress.
  private struct Frame {
    let node: ComputedNode
    let id: UInt
    /// The index of its first read.
    let start: Int
    let previous: ComputedResult?
    /// `true` if the index of the pass has the dependencies of the previous result.
    let isIndexed: Bool
    /// The publishers that were read, if a graph shows the computed value.
    var lineages: [Lineage] = []
  }

  @usableFromInline @exclusivity(unchecked) var time: UInt
  /// Retained by this list.
  @usableFromInline @exclusivity(unchecked) var reads: [Dependency] = []
  @exclusivity(unchecked) private var frame: Frame?
  /// The runs around the run in progress.
  @exclusivity(unchecked) private var outerFrames: [Frame] = []
  @usableFromInline @exclusivity(unchecked) var pins: PinnedValues?
  /// The pass that causes the runs, while the session is at its time.
  @exclusivity(unchecked) private var pass: UpdatePass?

  /// The number of the run in progress.
  @usableFromInline @exclusivity(unchecked) private(set) var run: UInt = 0
  /// The index of its first read.
  @usableFromInline @exclusivity(unchecked) private(set) var firstRead = 0
  /// The time of the pass if its index has the reads of the previous run, or 0.
  @exclusivity(unchecked) private var skipTime: UInt = 0
  /// The reads of the previous run, which the run in progress retains.
  @usableFromInline @exclusivity(unchecked) private(set) var previousReads = DependencyList.empty

  /// - Parameter pins: The values that the session must read.
  init(pins: PinnedValues? = nil) {
    unsafe time = ChangeClock.now
    unsafe self.pins = pins
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

  deinit {
    for dependency in unsafe reads { dependency.release() }
  }

  /// `true` if all values that were read belonged to `time`.
  var isExact: Bool { unsafe pins == nil }

  /// - Parameter isIndexed: `true` if the index of the pass has the dependencies of `previous`.
  func run(_ node: ComputedNode, after previous: ComputedResult?, isIndexed: Bool)
    -> ComputedResult
  {
    if let frame = unsafe frame.take() { unsafe outerFrames.append(frame) }
    begin(
      Frame(
        node: node, id: UniqueNumber.next(), start: unsafe reads.count, previous: previous,
        isIndexed: isIndexed))
    guard let watch = node.label.lineage?.computed else { return node.work(self) }
    return watch.measure { node.work(self) }
  }

  private func begin(_ frame: consuming Frame?) {
    unsafe run = frame?.id ?? 0
    unsafe firstRead = frame?.start ?? 0
    unsafe skipTime = frame?.isIndexed == true ? pass?.time ?? 0 : 0
    unsafe previousReads = frame?.previous?.dependencies ?? .empty
    unsafe self.frame = frame
  }

  /// Records a publisher for the graph that shows the computed value.
  @usableFromInline
  func note(_ lineage: Lineage) {
    guard unsafe frame?.node.label.lineage != nil else { return }
    unsafe frame?.lineages.append(lineage)
  }

  /// Ends the run in progress.
  @usableFromInline
  func finishRun() -> FinishedRun {
    guard let frame = unsafe frame.take() else {
      return FinishedRun(id: 0, dependencies: .empty, previous: nil)
    }
    begin(unsafe outerFrames.popLast())
    frame.node.label.lineage?.computed?.haveRead(frame.lineages)
    let dependencies = unsafe DependencyList(reads[frame.start...])
    unsafe reads.removeLast(dependencies.count)
    return FinishedRun(id: frame.id, dependencies: dependencies, previous: frame.previous)
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
    result.withNode {
      unsafe $0.isSkipped(at: skipTime) || $0.isPresent(result.resultAddress, at: time)
    }
  }

  private func pass(for node: ComputedNode) -> UpdatePass? {
    guard let pass = unsafe pass, pass.index.contains(node) else { return nil }
    return pass
  }

  /// The read of the previous run at the place of the next read.
  ///
  /// Successive runs usually read the same values in the same order.
  @inlinable var previousRead: Dependency? {
    let index = unsafe reads.count - firstRead
    return unsafe index < previousReads.count ? previousReads[index] : nil
  }

  /// Returns the computed value that the previous run used for the publisher, or a new one.
  @usableFromInline
  func known<Value, Kind>(_ publisher: Publisher<Value, Kind>) -> ComputedNode {
    guard case .computed(let node, _) = previousRead?.content,
      node.derivation == PublisherIdentity(publisher)
    else { return ComputedNode(deriving: publisher) }
    return node
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
    let run = unsafe run
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
    unsafe skipTime = 0
    let pins = PinnedValues()
    for dependency in unsafe reads { pins.keep(dependency) }
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
