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
  @usableFromInline
  struct Frame {
    let node: ComputedNode
    @usableFromInline let id: UInt
    /// The index of its first read.
    @usableFromInline let start: Int
    @usableFromInline let previous: ComputedResult?
    /// The publishers that were read, if a graph shows the computed value.
    var lineages: [Lineage] = []
  }

  @usableFromInline var time: UInt
  @usableFromInline var reads: [Dependency] = []
  @usableFromInline var frame: Frame?
  /// The runs around the run in progress.
  private var outerFrames: [Frame] = []
  @usableFromInline var pins: PinnedValues?

  /// - Parameter pins: The values that the session must read.
  init(pins: PinnedValues? = nil) {
    time = ChangeClock.now
    self.pins = pins
  }

  /// `true` if all values that were read belonged to `time`.
  var isExact: Bool { pins == nil }

  /// The number of the run in progress.
  @inlinable var run: UInt { frame?.id ?? 0 }

  func run(_ node: ComputedNode, after previous: ComputedResult?) -> ComputedResult {
    if let frame { outerFrames.append(frame) }
    frame = Frame(node: node, id: UniqueNumber.next(), start: reads.count, previous: previous)
    if reads.isEmpty, let previous { reads.reserveCapacity(previous.dependencies.count) }
    guard let watch = node.label.lineage?.computed else { return node.run(self) }
    return watch.measure { node.run(self) }
  }

  /// Records a publisher for the graph that shows the computed value.
  @usableFromInline
  func note(_ lineage: Lineage?) {
    guard let lineage, frame?.node.label.lineage != nil else { return }
    frame?.lineages.append(lineage)
  }

  /// Ends the run in progress.
  @usableFromInline
  func finishRun() -> FinishedRun {
    guard let frame else { return FinishedRun(id: 0, dependencies: [], previous: nil) }
    self.frame = outerFrames.popLast()
    frame.node.label.lineage?.computed?.haveRead(frame.lineages)
    var dependencies: [Dependency] = []
    if frame.start == 0 {
      swap(&dependencies, &reads)
    } else {
      dependencies = Array(reads[frame.start...])
      reads.removeSubrange(frame.start...)
    }
    return FinishedRun(id: frame.id, dependencies: dependencies, previous: frame.previous)
  }

  @inlinable
  func read<Value>(_ storage: PropertyStorage<Value>) -> Value {
    if pins != nil { return readPinned(storage) }
    let record = known(storage) ?? storage.record
    if isOvertaken(by: .value(record)) { return readPinned(storage) }
    append(.value(record), reader: storage.reader)
    return record.value
  }

  /// Returns `true` if values are pinned now, so `next` may not fit.
  @usableFromInline
  func isOvertaken(by next: Dependency) -> Bool {
    ChangeClock.now != time && !move(with: next)
  }

  @usableFromInline @inline(never)
  func readPinned<Value>(_ storage: PropertyStorage<Value>) -> Value {
    guard let record = pins?.record(of: storage) else { return storage.current }
    append(.value(record), reader: storage.reader)
    return record.value
  }

  /// Reads the value of a publisher.
  ///
  /// A function of other values is a separate computed value, so that an equal result is no
  /// change.
  @usableFromInline
  func read<Value, Kind>(_ publisher: Publisher<Value, Kind>) -> Value? {
    guard case .derived = publisher.currentValue else { return publisher.read(in: self) }
    let node = known(publisher) ?? ComputedNode(deriving: publisher)
    return read(node).value(of: Value?.self)
  }

  @usableFromInline
  func readUntracked<Value, Kind>(_ publisher: Publisher<Value, Kind>) -> Value? {
    UntrackedOrigin.storage(of: publisher).map { read($0) }
  }

  @usableFromInline
  func read(_ node: ComputedNode) -> ComputedResult {
    var result: ComputedResult
    if let pins {
      result = pins.result(of: node, in: self)
    } else {
      result = node.evaluate(in: self).result
      if let pins {
        pins.keep(result, of: node)
      } else if ChangeClock.now != time, !move(with: .computed(node, result)), let pins {
        result = pins.result(of: node, in: self)
      }
    }
    append(.computed(node, result), reader: node.reader)
    return result
  }

  /// The read of the previous run at the place of the next read.
  ///
  /// Successive runs usually read the same values in the same order.
  @inlinable var previousRead: Dependency? {
    guard let frame, let previous = frame.previous else { return nil }
    let index = reads.count - frame.start
    return index < previous.dependencies.count ? previous.dependencies[index] : nil
  }

  /// Returns the computed value that the previous run used for the publisher.
  private func known<Value, Kind>(_ publisher: Publisher<Value, Kind>) -> ComputedNode? {
    guard case .computed(let node, _) = previousRead,
      node.derivation == PublisherIdentity(publisher)
    else { return nil }
    return node
  }

  /// Returns the record of the previous run, if it is still present.
  @inlinable
  func known<Value>(_ storage: PropertyStorage<Value>) -> TypedValueRecord<Value>? {
    guard storage.origin == nil, case .value(let record) = previousRead,
      record.storage === storage, record.isPresent
    else { return nil }
    return unsafe unsafeDowncast(record, to: TypedValueRecord<Value>.self)
  }

  /// Adds a read, unless this run has it already.
  @inlinable
  func append(_ dependency: Dependency, reader: borrowing Atomic<UInt>) {
    let run = run
    if reader.load(ordering: .relaxed) == run { return }
    reader.store(run, ordering: .relaxed)
    reads.append(dependency)
  }

  /// Moves to the present instant, or pins all values that were read.
  ///
  /// - Parameter next: A value that is being read.
  /// - Returns: `false` if values are pinned now, so `next` may not fit.
  private func move(with next: Dependency) -> Bool {
    let now = ChangeClock.now
    let pins = PinnedValues()
    for dependency in reads { pins.keep(dependency) }
    let all = PinnedValues(pins)
    all.keep(next)
    if all.arePresent {
      time = now
      return true
    }
    self.pins = pins
    return false
  }
}
