internal import Synchronization

/// The values that a subscribed computed value depends on, at any depth, with links in the
/// direction of changes.
///
/// A change follows these links to the computed values that it may affect. All other results are
/// still correct, and need no inspection. The links are stored in the subscription: a value does
/// not refer to the values that read it.
///
/// Used by the delivering thread of a combination.
@safe final class DependencyIndex {
  private var values: [ObjectIdentifier: Entry] = [:]
  private var sources: [ObjectIdentifier: Entry] = [:]
  private let root: Entry
  /// `true` if a value may arrive after a newer one.
  ///
  /// The source was subscribed to while it changed, or values of its previous subscription are still
  /// on their way.
  private var mayArriveLate = false
  /// A session that no pass uses.
  @exclusivity(unchecked) private var spareSession: ReadSession?
  /// Entries whose links are followed.
  @exclusivity(unchecked) private var reached: [Unmanaged<Entry>] = unsafe []

  init(of node: ComputedNode) {
    root = Entry(of: node)
    values[ObjectIdentifier(node)] = root
  }

  /// The subscriptions to all sources.
  var inputs: [Subscription] { sources.values.compactMap(\.input) }

  /// `true` if several inputs may share a source.
  var mayShareSources: Bool {
    sources.count > 1 && sources.values.contains { $0.mayShareSource }
  }

  /// Returns `true` if the result of the root may depend on the computed value.
  func contains(_ node: ComputedNode) -> Bool { values[ObjectIdentifier(node)] != nil }

  /// Returns `false` if the record is older than a known one, or of a source that is not in use.
  ///
  /// Records must be passed in the order in which they are applied.
  func accepts(_ record: ValueRecord) -> Bool {
    if !mayArriveLate { return true }
    return sources[ObjectIdentifier(record.storage)]?.advance(to: record) ?? false
  }

  /// Marks the computed values that the changes may affect, and returns the pass that updates them.
  ///
  /// The cost is O(affected computed values and their links).
  func pass(for changes: [ValueRecord], at time: UInt) -> UpdatePass {
    root.mark(time)
    for change in changes where values.count > 1 {
      guard let source = sources[ObjectIdentifier(change.storage)] else { continue }
      unsafe source.markReaders(time, &reached)
      while let entry = unsafe reached.popLast() {
        unsafe entry._withUnsafeGuaranteedRef { unsafe $0.markReaders(time, &reached) }
      }
    }
    return UpdatePass(of: self, time: time, after: changes.last)
  }

  fileprivate func takeSession() -> ReadSession { unsafe spareSession.take() ?? ReadSession() }

  fileprivate func keep(_ session: ReadSession) {
    if session.isExact { unsafe spareSession = session.rested() }
  }

  /// Replaces the links by the links of a result.
  ///
  /// The cost is O(dependencies of the computed values whose dependencies have changed).
  ///
  /// - Parameter subscribe: Subscribes to a new source.
  func update(
    to result: ComputedResult, _ subscribe: (VersionedStorage) -> Subscription
  ) -> Changes {
    var changes = Changes()
    update(root, to: result, &changes, subscribe)
    if !changes.missed.isEmpty || !changes.removedInputs.isEmpty { mayArriveLate = true }
    return changes
  }

  private func update(
    _ entry: Entry, to result: ComputedResult, _ changes: inout Changes,
    _ subscribe: (VersionedStorage) -> Subscription
  ) {
    if entry.shape == result.shape { return }
    entry.shape = result.shape
    let dependencies = result.dependencies.map(\.content)
    let kept = zip(entry.children, dependencies).prefix { $0.represents($1) }.count
    let dropped = entry.unlink(from: kept)
    for dependency in dependencies[kept...] {
      entry.link(child(for: dependency, &changes, subscribe))
    }
    for child in dropped { removeIfUnused(child, &changes) }
    for (child, dependency) in zip(entry.children, dependencies) {
      if case .computed(_, let result) = dependency {
        update(child, to: result, &changes, subscribe)
      }
    }
  }

  private func child(
    for dependency: Dependency.Content, _ changes: inout Changes,
    _ subscribe: (VersionedStorage) -> Subscription
  ) -> Entry {
    switch dependency {
    case .computed(let node, _):
      let id = ObjectIdentifier(node)
      if let known = values[id] { return known }
      let entry = Entry(of: node)
      values[id] = entry
      return entry
    case .value(let record):
      let id = ObjectIdentifier(record.storage)
      if let known = sources[id] { return known }
      let entry = Entry(of: record, subscribe)
      sources[id] = entry
      changes.areInputsChanged = true
      if !record.isPresent { changes.missed.append(record.storage) }
      return entry
    }
  }

  private func removeIfUnused(_ entry: Entry, _ changes: inout Changes) {
    if unsafe !entry.links.isEmpty { return }
    if let node = entry.node {
      if values.removeValue(forKey: ObjectIdentifier(node)) == nil { return }
      for child in entry.unlink(from: 0) { removeIfUnused(child, &changes) }
    } else if let source = entry.source {
      if sources.removeValue(forKey: ObjectIdentifier(source.storage)) == nil { return }
      changes.areInputsChanged = true
      changes.removedInputs.append(source.input)
    }
  }

  /// The consequences of an update for the subscription.
  struct Changes {
    /// New sources that have changed since they were read.
    var missed: [VersionedStorage] = []
    var removedInputs: [Subscription] = []
    var areInputsChanged = false
  }
}

/// An update after a change, which inspects only the computed values that the change may affect.
///
/// All other values of the index were correct before the change. No other change of a source is in
/// progress. The subscription retains the index and the change.
@safe struct UpdatePass {
  private let index: Unmanaged<DependencyIndex>
  /// The last change, for runs that read its source.
  let change: Unmanaged<ValueRecord>?
  /// The time of the change clock after the change.
  let time: UInt

  init(of index: DependencyIndex, time: UInt, after change: ValueRecord?) {
    unsafe self.index = .passUnretained(index)
    unsafe self.change = change.map { unsafe .passUnretained($0) }
    self.time = time
  }

  /// Returns `true` if the result of the root may depend on the computed value.
  func contains(_ node: ComputedNode) -> Bool {
    unsafe index._withUnsafeGuaranteedRef { $0.contains(node) }
  }

  /// Calls the closure with a session at the time of the pass.
  func withSession<Result>(_ body: (ReadSession) -> Result) -> Result {
    unsafe index._withUnsafeGuaranteedRef { index in
      let session = index.takeSession()
      session.begin(self)
      defer { index.keep(session) }
      return body(session)
    }
  }
}

/// A computed value or a source in an index.
///
/// A reader retains its dependencies.
private final class Entry {
  /// An entry that reads this entry, and the place of the read.
  @safe struct Link {
    let reader: Unmanaged<Entry>
    /// The index in `children` of the reader.
    let slot: Int
  }

  /// The computed value, or `nil` for a source.
  let node: ComputedNode?
  let source: (storage: VersionedStorage, input: Subscription)?
  /// The shape of the result whose dependencies are the children.
  var shape: UInt = 0
  private(set) var children: [Entry] = []
  @exclusivity(unchecked) private(set) var links: [Link] = []
  /// The version of the newest known value of a source.
  private var knownVersion: UInt = 0
  /// The indices of the links from the children.
  private var positions: [Int] = []
  /// The time of the last change that may affect the computed value.
  @exclusivity(unchecked) private var markedTime: UInt = 0

  init(of node: ComputedNode) {
    self.node = node
    source = nil
  }

  init(of record: ValueRecord, _ subscribe: (VersionedStorage) -> Subscription) {
    let version = record.version.load(ordering: .relaxed)
    node = nil
    source = (record.storage, subscribe(record.storage))
    if version != .max { knownVersion = version }
  }

  var input: Subscription? { source?.input }

  var mayShareSource: Bool {
    guard let storage = source?.storage else { return false }
    return storage.origin != nil || storage.source?.follows == true
  }

  func represents(_ dependency: Dependency.Content) -> Bool {
    switch dependency {
    case .computed(let other, _): node === other
    case .value(let record): source?.storage === record.storage
    }
  }

  /// Returns `false` if a newer value is known.
  func advance(to record: ValueRecord) -> Bool {
    let version = record.version.load(ordering: .relaxed)
    if version < knownVersion { return false }
    if version != .max { knownVersion = version }
    return true
  }

  /// Returns `false` if the change has been here.
  @discardableResult
  func mark(_ time: UInt) -> Bool {
    if unsafe markedTime == time { return false }
    unsafe markedTime = time
    node?.mayHaveChanged(at: time)
    return true
  }

  /// Marks the entries that read this one, and adds those where the change has not been.
  func markReaders(_ time: UInt, _ reached: inout [Unmanaged<Entry>]) {
    for index in unsafe links.indices {
      let reader = unsafe links[index].reader
      if unsafe reader._withUnsafeGuaranteedRef({ $0.mark(time) }) {
        unsafe reached.append(reader)
      }
    }
  }

  func link(_ child: Entry) {
    unsafe positions.append(child.links.count)
    unsafe child.links.append(Link(reader: .passUnretained(self), slot: children.count))
    children.append(child)
  }

  /// Removes the children from an index on, and returns them.
  func unlink(from start: Int) -> [Entry] {
    let removed = Array(children[start...])
    while children.count > start {
      let child = children.removeLast()
      let position = positions.removeLast()
      let last = unsafe child.links.removeLast()
      if unsafe position == child.links.count { continue }
      unsafe child.links[position] = last
      unsafe last.reader.takeUnretainedValue().positions[last.slot] = position
    }
    return removed
  }
}
