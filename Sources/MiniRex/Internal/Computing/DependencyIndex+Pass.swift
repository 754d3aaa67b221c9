/// An entry in progress, whose marked dependencies come up to date first.
///
/// - comparing: the children that a change may affect are inspected.
/// - adopting: the dependencies of a result that another reader has found are compared.
/// - running: the closure reads.
struct PassStep {
  let id: EntryID
  /// The place of the next dependency.
  var position: Int
  /// The result of another reader, while it is compared.
  var candidate: ComputedResult?
  /// The place of the first dependency that is not the child at the same place.
  ///
  /// The dependencies from there on are in `found`. It is `nil` if there is no difference.
  var difference: Int?
  /// The index of its first read in `found`.
  var foundStart = 0
  /// `true` if a dependency with an equal value now depends on values at other places.
  var hasMoved = false
  /// `true` if the result that a collapsed part has used was or is the candidate.
  var hasComparedEarlier = false
}

/// Runs in dependency order.
///
/// A value is compared with its dependencies in the order of the reads, because a change may make
/// later reads obsolete. The entries in progress are on a stack of the index, not of the thread: only
/// a closure that reads a value for the first time uses stack.
extension DependencyIndex {
  /// Brings an entry up to date.
  ///
  /// The entry retains the result until the next change.
  func result(of id: EntryID, in session: ReadSession) -> UnretainedReference<ComputedResult> {
    if table[id].phase != .clean {
      let outer = steps.count
      begin(id)
      while steps.count > outer { proceed(in: session) }
    }
    guard let result = table[id].knownResult else { misuse("A computed value has no result.") }
    return result
  }

  func begin(_ id: EntryID) {
    if table[id].phase == .running { trap(at: id) }
    if take(id) { return }
    table[id].takes.count = 0
    table[id].phase = .running
    steps.append(PassStep(id: id, position: table[id].firstMarked))
    if table[id].isCollapsed {
      expand(id)
      let candidate = table[id].node?.use { $0.result } ?? table[id].result
      if let candidate { compare(candidate, in: steps.count - 1) }
    }
  }

  private func proceed(in session: ReadSession) {
    let step = steps.count - 1
    let id = steps[step].id
    if steps[step].candidate != nil { return adopt(in: step, session) }
    if table[id].result != nil {
      switch compareChildren(in: step) {
      case .waits: return
      case .same: return keepResult(in: step)
      case .different: break
      }
    }
    if table[id].hasOtherResult, let candidate = table[id].node?.use({ $0.result }) {
      compare(candidate, in: step)
    } else if !compareEarlierResult(in: step, after: nil) {
      run(step, in: session)
    }
  }

  /// Makes a result the candidate.
  func compare(_ candidate: ComputedResult, in step: Int) {
    steps[step].candidate = candidate
    steps[step].position = 0
    steps[step].difference = nil
    steps[step].hasMoved = false
    steps[step].foundStart = found.count
  }

  private enum Comparison {
    case waits
    case same
    case different
  }

  private func compareChildren(in step: Int) -> Comparison {
    let id = steps[step].id
    for slot in steps[step].position..<table[id].children.count {
      let child = table[id].children[slot]
      if table[child].phase != .clean {
        steps[step].position = slot
        begin(child)
        return .waits
      }
      inspectedCount += 1
      if table[child].changedPass == pass { return .different }
      if table[child].movedPass == pass { steps[step].hasMoved = true }
    }
    return .same
  }

  // MARK: Running

  /// `true` while a closure runs in the index.
  var isRunning: Bool { !steps.isEmpty }

  func run(_ step: Int, in session: ReadSession) {
    let id = steps[step].id
    guard let node = table[id].node else { return }
    steps[step].position = 0
    steps[step].difference = nil
    steps[step].foundStart = found.count
    let result = session.run(node, after: table[id].knownResult)
    if time > 0 { result.isNew(at: time) }
    node.use { $0.publish(result) }
    // A run keeps the version of an equal result.
    finish(id, with: result, comparing: false)
  }

  /// Returns the entry of a storage or a computed value, which the run in progress reads.
  ///
  /// Successive runs usually read the same values in the same order.
  @inline(__always)
  func read(_ identity: ObjectIdentifier, in run: UInt, _ find: () -> EntryID) -> EntryID {
    // Before the first run in the index, a session reads for its own runs.
    if steps.isEmpty { return find() }
    let step = steps.count - 1
    if let child = nextChild, table[child].identity == identity {
      steps[step].position += 1
      table[child].readRun = run
      return child
    }
    let child = find()
    if table[child].readRun != run {
      table[child].readRun = run
      steps[step].difference = steps[step].position
      found.append(child)
    }
    return child
  }

  /// The read of the previous run at the place of the next read.
  var nextChild: EntryID? {
    let step = steps.count - 1
    if step < 0 || steps[step].difference != nil { return nil }
    let (id, position) = (steps[step].id, steps[step].position)
    return position < table[id].children.count ? table[id].children[position] : nil
  }

  /// The computed value that the previous run read at the place of the next read.
  var nextNode: ComputedNode? { nextChild.flatMap { table[$0].node?.use { $0 } } }

  /// The storage that the previous run read at the place of the next read.
  var nextStorage: VersionedStorage? { nextChild.flatMap { table[$0].storage?.use { $0 } } }

  /// Replaces the links by the reads of the run in progress, and returns its dependencies.
  ///
  /// `hasShape` is `true` if they have the shape of the last result.
  func finishRun() -> (DependencyList, hasShape: Bool) {
    let step = steps.count - 1
    let id = steps[step].id
    let position = steps[step].position
    var hasShape =
      position > 0 && table[id].children.count == position && found.count == steps[step].foundStart
    if !hasShape { relink(step, from: position) }
    let list = DependencyList(count: table[id].children.count) { index in
      let child = table[id].children[index]
      if table[child].movedPass == pass { hasShape = false }
      return table[child].dependency
    }
    return (list, hasShape)
  }

  func relink(_ step: Int, from position: Int) {
    let (id, start) = (steps[step].id, steps[step].foundStart)
    while table[id].children.count > position { unused.append(table.unlinkLast(of: id)) }
    table.reserve(found.count - start, of: id)
    for index in start..<found.count { table.link(found[index], to: id) }
    found.removeLast(found.count - start)
  }

  func dependencyList(of id: EntryID) -> DependencyList {
    DependencyList(count: table[id].children.count) { table[table[id].children[$0]].dependency }
  }

  // MARK: Ends of steps

  /// Keeps a result whose dependencies have equal values.
  ///
  /// The values that they depend on may be at other places. A copy of the result then has these
  /// places, without a run of the closure.
  private func keepResult(in step: Int) {
    let id = steps[step].id
    if steps[step].hasMoved, let result = table[id].result {
      let moved = result.replacing(dependencyList(of: id))
      if time > 0 { moved.isNew(at: time) }
      table[id].node?.use { $0.publish(moved) }
      return finish(id, with: moved, comparing: false)
    }
    // A subscriber that has taken it keeps it then.
    if time > 0 { table[id].knownResult?.use { $0.wasCorrect(at: time) } }
    table[id].phase = .clean
    steps.removeLast()
  }

  func finish(_ id: EntryID, with result: consuming ComputedResult, comparing: Bool) {
    table[id].phase = .clean
    steps.removeLast()
    replaceResult(of: id, by: result, comparing: comparing)
  }

  /// Replaces the result, and marks the entry as changed in this pass if the value differs.
  ///
  /// - Parameter comparing: `false` if different versions imply different values.
  func replaceResult(of id: EntryID, by result: consuming ComputedResult, comparing: Bool) {
    let (version, new) = (result.version, UnretainedReference(copy result))
    var replaced: ComputedResult? = consume result
    swap(&table[id].result, &replaced)
    guard let replaced else {
      table[id].changedPass = pass
      return
    }
    new.use { result in
      if replaced.version != version,
        !comparing || table[id].node?.use({ $0.areEqual(replaced, result) }) != true
      {
        table[id].changedPass = pass
      }
      if replaced.hasMoved(to: result) { table[id].movedPass = pass }
    }
  }

  private func trap(at id: EntryID) -> Never {
    let start = steps.firstIndex { $0.id == id } ?? steps.startIndex
    let nodes = (steps[start...].map(\.id) + [id]).compactMap { table[$0].node?.use { $0 } }
    ComputedCycle.trap(nodes)
  }
}
