internal import Synchronization

/// The values that a computed value depends on, at any depth, with links in the direction of
/// changes.
///
/// It is one assignment of values to sources: all runs read the same value of a source. A
/// subscription has an index, whose sources change by deliveries to this subscription only. No other
/// thread can therefore change a value that a pass reads, and a pass validates no result against
/// shared state. A session that other threads overtake has an index of the values that it must read
/// again, without subscriptions.
///
/// Invariants between two passes of a subscription, where all entries are clean. Equal values count
/// as the same value.
/// - I1 every entry but the root has a link from its reader
/// - I2 every result was computed from the values of the children
/// - I3 a source has the value that was delivered last
/// - I4 at the time of the index, all sources had its values
/// - I5 user code in a pass cannot change the index
///
/// One thread at a time uses it, the delivering thread of a combination, or the thread of a session.
/// The deliveries that user code causes in a pass are queued.
@usableFromInline
final class DependencyIndex {
  /// One thread at a time uses it, in accesses that do not nest.
  ///
  /// Checks of exclusive access would cost as much as a run.
  private struct State {
    var pass: UInt = 1
    var steps: [PassStep] = []
    var found: [EntryID] = []
    var unused: [EntryID] = []
    var reached: [EntryID] = []
    var taken: [TakenResult] = []
    var mayTake = true
    var collapsible: [EntryID] = []
    var collapsedCount = 0
    var expanded: [ComputedResult] = []
    var earlier: [ObjectIdentifier: ComputedResult]?
    var inspectedCount = 0
    var time: UInt = 0
    /// The time of the batch whose changes are applied, if no other change is, or 0.
    var batchTime: UInt = 0
    var places = PlaceRange()
    var values: [ObjectIdentifier: EntryID] = [:]
    var sources: [ObjectIdentifier: EntryID] = [:]
    /// The inputs of the subscription, set during a pass only.
    var inputs: UnretainedReference<LiveInputs>?
    var areInputsChanged = false
    var removedInputs: [Subscription] = []
  }

  /// Whether a change belongs to a batch, and whether passes wait for its other changes.
  enum Batching: Comparable {
    case none
    case held
    case open
  }

  let table = EntryTable()
  @exclusivity(unchecked) private var storedState = State()

  /// The number of the next pass, or of the pass in progress.
  var pass: UInt { state.pass }

  private var state: State {
    @inline(__always) _read { yield unsafe storedState }
    @inline(__always) _modify { yield unsafe &storedState }
  }

  private(set) var values: [ObjectIdentifier: EntryID] {
    @inline(__always) _read { yield state.values }
    @inline(__always) _modify { yield &state.values }
  }

  private(set) var sources: [ObjectIdentifier: EntryID] {
    @inline(__always) _read { yield state.sources }
    @inline(__always) _modify { yield &state.sources }
  }

  /// The entries in progress.
  ///
  /// Each waits for the next entry.
  var steps: [PassStep] {
    @inline(__always) _read { yield state.steps }
    @inline(__always) _modify { yield &state.steps }
  }

  /// Reads that the previous run did not make at the same place, of all steps.
  var found: [EntryID] {
    @inline(__always) _read { yield state.found }
    @inline(__always) _modify { yield &state.found }
  }

  /// Entries that may have no link.
  var unused: [EntryID] {
    @inline(__always) _read { yield state.unused }
    @inline(__always) _modify { yield &state.unused }
  }

  /// Entries that take the results of another reader.
  var taken: [TakenResult] {
    @inline(__always) _read { yield state.taken }
    @inline(__always) _modify { yield &state.taken }
  }

  /// `false` if a result could not be taken in this pass.
  var mayTake: Bool {
    get { state.mayTake }
    set { state.mayTake = newValue }
  }

  /// Entries that have taken enough results.
  var collapsible: [EntryID] {
    @inline(__always) _read { yield state.collapsible }
    @inline(__always) _modify { yield &state.collapsible }
  }

  var collapsedCount: Int {
    get { state.collapsedCount }
    set { state.collapsedCount = newValue }
  }

  /// The results of the entries that this pass has expanded.
  var expanded: [ComputedResult] {
    @inline(__always) _read { yield state.expanded }
    @inline(__always) _modify { yield &state.expanded }
  }

  /// The results below collapsed entries, once this pass has needed one.
  var earlier: [ObjectIdentifier: ComputedResult]? {
    @inline(__always) _read { yield state.earlier }
    @inline(__always) _modify { yield &state.earlier }
  }

  /// The number of dependencies and sources that passes have compared.
  ///
  /// For tests: it grows with the values that a change may affect, not with the graph.
  var inspectedCount: Int {
    get { state.inspectedCount }
    set { state.inspectedCount = newValue }
  }

  /// A time at which all sources had the values of the index, or 0.
  ///
  /// Results that are correct at this time are the results of the index.
  private(set) var time: UInt {
    get { state.time }
    set { state.time = newValue }
  }

  /// Stores a delivered value, and marks the computed values that it may affect.
  ///
  /// O(affected computed values and their links). Ignores a value that is older than the known one,
  /// and a value of a source that is no longer in use.
  ///
  /// - Parameter batching: Whether other sources may have changed at the same time.
  func apply(_ record: ValueRecord, at id: EntryID, _ batching: Batching) {
    if table[id].identity != ObjectIdentifier(record.storage) { return }
    let version = record.version.load(ordering: .relaxed)
    if version <= table[id].knownVersion { return }
    moveTime(to: version, batching)
    replaceRecord(by: record, version, at: id)
  }

  private func replaceRecord(by record: ValueRecord, _ version: UInt, at id: EntryID) {
    var replaced: ValueRecord? = record
    swap(&table[id].record, &replaced)
    table[id].knownVersion = version == .max ? 0 : version
    table[id].changedPass = pass
    markReaders(of: id)
    withExtendedLifetime(replaced) {}
  }

  private func markReaders(of source: EntryID) {
    var id = source
    while true {
      // An array would be retained in a `for` loop.
      for index in 0..<table[id].links.count {
        let link = table[id].links[index]
        if table.mark(link) { state.reached.append(link.reader) }
      }
      guard let next = state.reached.popLast() else { return }
      id = next
    }
  }

  // MARK: Passes

  /// Brings the computed value up to date, and returns its result.
  func update(_ root: EntryID, in session: ReadSession, for inputs: LiveInputs) -> ComputedResult {
    state.inputs = UnretainedReference(inputs)
    // The first sources are read from now on. A later version clears the time.
    if pass == 1 { time = ChangeClock.now }
    // The batch is over.
    if state.batchTime > 0 { time = state.batchTime }
    state.batchTime = 0
    let result = result(of: root, in: session).use { $0 }
    state.inputs = nil
    while let id = collapsible.popLast() { collapse(id) }
    releaseEarlierResults()
    removeUnused(but: root)
    state.pass += 1
    mayTake = true
    // One of n passes inspects all n sources, which is amortized O(1) per pass.
    if time == 0, pass.isMultiple(of: UInt(max(sources.count, 1))) { _ = missedSources() }
    if time > 0 { result.wasCorrect(at: time) }
    state.places = result.places
    return result
  }

  /// Reads the sources again that have changed since they were read.
  ///
  /// - Returns: `true` if there were some. The values of the index belonged to several instants.
  func readMissedSources() -> Bool {
    if sources.count < 2 { return false }
    let missed = missedSources()
    for id in missed {
      guard let record = table[id].storage?.use({ $0.presentRecord() }) else { continue }
      replaceRecord(by: record, record.version.load(ordering: .relaxed), at: id)
    }
    return !missed.isEmpty
  }

  /// Removes entries that no entry reads, and then their dependencies.
  private func removeUnused(but root: EntryID) {
    while let id = unused.popLast() {
      if table[id].identity == nil || !table[id].links.isEmpty || id == root { continue }
      while !table[id].children.isEmpty { unused.append(table.unlinkLast(of: id)) }
      let entry = table.remove(id)
      if entry.isCollapsed { collapsedCount -= 1 }
      guard let identity = entry.identity else { continue }
      if entry.node != nil {
        values[identity] = nil
      } else {
        sources[identity] = nil
        state.areInputsChanged = true
        state.removedInputs.append(entry.input)
      }
    }
  }

  // MARK: Entries

  func value(_ node: ComputedNode) -> EntryID {
    let identity = ObjectIdentifier(node)
    if let known = values[identity] { return known }
    let id = table.append(IndexEntry(of: node))
    values[identity] = id
    unused.append(id)
    return id
  }

  /// Returns the entry of a source, which it subscribes to and reads if it is new.
  func source(_ storage: VersionedStorage) -> EntryID {
    let identity = ObjectIdentifier(storage)
    if let known = sources[identity] { return known }
    let id = addSource(storage)
    if let inputs = state.inputs {
      let followed = inputs.use { $0.follow(storage, as: id) }
      table[id].input = followed.input
      state.areInputsChanged = true
      setFirst(followed.record, at: id)
    } else {
      setFirst(storage.presentRecord(), at: id)
    }
    return id
  }

  func addSource(_ storage: VersionedStorage) -> EntryID {
    let id = table.append(IndexEntry(of: storage))
    sources[ObjectIdentifier(storage)] = id
    unused.append(id)
    return id
  }

  func setFirst(_ record: ValueRecord, at id: EntryID) {
    let version = record.version.load(ordering: .relaxed)
    table[id].record = record
    if version != .max { table[id].knownVersion = version }
    if version > time { time = 0 }
  }

  // MARK: Inputs

  /// The subscriptions to all sources.
  var currentInputs: [Subscription] { sources.values.map { table[$0].input } }

  /// `true` if several inputs may share a source.
  var mayShareSources: Bool {
    sources.count > 1
      && sources.values.contains { id in
        table[id].storage?.use { $0.origin != nil || $0.source?.follows == true } ?? false
      }
  }

  /// Returns the inputs that are no longer in use, or `nil` if the inputs have not changed.
  func takeInputChanges() -> [Subscription]? {
    if !state.areInputsChanged { return nil }
    state.areInputsChanged = false
    defer { state.removedInputs = [] }
    return state.removedInputs
  }

  // MARK: Time

  /// Moves `time` to a change of one source, if no source has changed between the two times.
  ///
  /// Otherwise, no time is known at which all sources had the values of the index. A batch changes all
  /// of its sources at one time, which is the time of the next pass.
  private func moveTime(to version: UInt, _ batching: Batching) {
    let isNext =
      time > 0 && version > time && version != .max
      && ChangeLog.shared.isFree(of: state.places, from: time, to: version - 1)
    time = isNext && batching == .none ? version : 0
    let isBatch = batching == .held && (isNext || version == state.batchTime)
    state.batchTime = isBatch ? version : 0
  }

  /// Returns the sources whose present values are not the values of the index.
  ///
  /// Without any, `time` becomes the present time. O(sources).
  private func missedSources() -> [EntryID] {
    let now = ChangeClock.now
    inspectedCount += sources.count
    let missed = sources.values.filter { id in
      table[id].knownRecord?.use {
        !$0.isPresent || $0.version.load(ordering: .relaxed) > now
      } ?? false
    }
    time = missed.isEmpty ? now : 0
    return missed
  }
}
