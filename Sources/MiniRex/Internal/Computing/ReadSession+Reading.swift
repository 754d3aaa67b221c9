public import Synchronization

/// The reads of a run, each recorded as a dependency.
extension ReadSession {
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
    // The node has no newer result than the previous run, which has just been inspected.
    let isStale = previousRead.map { read in
      read.isResult(of: node) && read.result.address == node.lastResult
    }
    let known = isStale == true ? nil : unsafe node.result(at: time)
    let result = known ?? result(of: node)
    if unsafe index == nil, let result {
      if isFirstRead(node.reader) {
        unsafe reads.append(Dependency(UnretainedReference(node), UnretainedReference(result)))
      }
      return result
    }
    // A run that reads this one, but in another state, is no cycle.
    let index = pin()
    if let result { index.use { $0.keep([.computed(node, result)], at: unsafe time) } }
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
}
