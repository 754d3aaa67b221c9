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
  /// The place of the first dependency that is not the child there, from which `found` has all.
  var difference: Int?
  /// The index of its first read in `found`.
  var foundStart = 0
  /// `true` if a dependency of the candidate depends on other places now.
  var hasMoved = false
}

/// Runs in dependency order.
///
/// A value is compared with its dependencies in the order of the reads, because a change may make
/// later reads obsolete. The entries in progress are on a stack of the index, not of the thread: only
/// a closure that reads a value for the first time uses stack.
extension DependencyIndex {
  /// Brings an entry up to date.
  func result(of id: EntryID, in session: ReadSession) -> ComputedResult {
    if table[id].phase != .clean {
      let outer = steps.count
      begin(id)
      while steps.count > outer { proceed(in: session) }
    }
    guard let result = table[id].result else { misuse("A computed value has no result.") }
    return result
  }

  private func begin(_ id: EntryID) {
    if table[id].phase == .running { trap(at: id) }
    table[id].phase = .running
    steps.append(PassStep(id: id, position: table[id].firstMarked))
  }

  private func proceed(in session: ReadSession) {
    let step = steps.count - 1
    let id = steps[step].id
    if let candidate = steps[step].candidate { return adopt(candidate, in: step, session) }
    if table[id].result != nil {
      switch compareChildren(in: step) {
      case .waits: return
      case .same(let hasMoved): return keepResult(of: id, hasMoved: hasMoved, in: session)
      case .different: break
      }
    }
    if let candidate = table[id].node?.result(otherThan: table[id].result) {
      steps[step].candidate = candidate
      steps[step].position = 0
      steps[step].foundStart = found.count
    } else {
      run(step, in: session)
    }
  }

  private enum Comparison {
    case waits
    case same(hasMoved: Bool)
    case different
  }

  private func compareChildren(in step: Int) -> Comparison {
    let id = steps[step].id
    var hasMoved = false
    for slot in steps[step].position..<table[id].children.count {
      let child = table[id].children[slot]
      if table[child].phase != .clean {
        steps[step].position = slot
        begin(child)
        return .waits
      }
      if table[child].changedPass == pass { return .different }
      if table[child].movedPass == pass { hasMoved = true }
    }
    return .same(hasMoved: hasMoved || steps[step].hasMoved)
  }

  // MARK: Adopting

  private func adopt(_ candidate: ComputedResult, in step: Int, _ session: ReadSession) {
    let id = steps[step].id
    let dependencies = candidate.dependencies
    for position in steps[step].position..<dependencies.count {
      let dependency = dependencies[position]
      let (child, isNew) = child(for: dependency, at: position, in: step)
      if table[child].phase == .marked {
        steps[step].position = position
        return begin(child)
      }
      guard table[child].phase == .clean, isEqual(child, dependency) else {
        found.removeLast(found.count - steps[step].foundStart)
        steps[step].candidate = nil
        return run(step, in: session)
      }
      if isNew {
        steps[step].difference = steps[step].difference ?? position
        found.append(child)
      }
      if let result = table[child].result, dependency.result.hasMoved(to: result) {
        steps[step].hasMoved = true
      }
    }
    relink(step, from: steps[step].difference ?? dependencies.count)
    var adopted = candidate
    if steps[step].hasMoved {
      adopted = candidate.replacing(dependencyList(of: id, in: session))
      table[id].node?.publish(adopted)
    }
    finish(id, with: adopted)
  }

  private func child(
    for dependency: Dependency, at position: Int, in step: Int
  ) -> (EntryID, isNew: Bool) {
    if steps[step].difference == nil, position < table[steps[step].id].children.count {
      let child = table[steps[step].id].children[position]
      if table[child].identity == dependency.identity { return (child, false) }
    }
    switch dependency.content {
    case .value(let record): return (source(record.storage), true)
    case .computed(let node, _): return (value(node), true)
    }
  }

  private func isEqual(_ child: EntryID, _ dependency: Dependency) -> Bool {
    if let record = table[child].record { return dependency.withRecord { $0.isSame(as: record) } }
    guard let result = table[child].result else { return false }
    return dependency.withNode { node in
      dependency.withResult { $0 === result || node.areEqual($0, result) }
    }
  }

  /// `true` while a closure runs in the index.
  var isRunning: Bool { !steps.isEmpty }

  // MARK: Running

  private func run(_ step: Int, in session: ReadSession) {
    let id = steps[step].id
    guard let node = table[id].node else { return }
    steps[step].position = 0
    steps[step].difference = nil
    steps[step].foundStart = found.count
    let previous = table[id].result
    let result = session.run(node, after: previous)
    if time > 0 { result.isNew(at: time) }
    node.publish(result)
    finish(id, with: result)
  }

  /// Returns the entry of a storage or a computed value, which the run in progress reads.
  ///
  /// Successive runs usually read the same values in the same order.
  func read(_ identity: ObjectIdentifier, in run: UInt, _ find: () -> EntryID) -> EntryID {
    // Before the first run in the index, a session reads for its own runs.
    if steps.isEmpty { return find() }
    let step = steps.count - 1
    if steps[step].difference == nil, let child = nextChild, table[child].identity == identity {
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
    guard let step = steps.last, step.difference == nil else { return nil }
    return step.position < table[step.id].children.count
      ? table[step.id].children[step.position] : nil
  }

  /// Replaces the links by the reads of the run in progress, and returns its dependencies.
  func finishRun(in session: ReadSession) -> DependencyList {
    let step = steps.count - 1
    relink(step, from: steps[step].position)
    return dependencyList(of: steps[step].id, in: session)
  }

  private func relink(_ step: Int, from position: Int) {
    let (id, start) = (steps[step].id, steps[step].foundStart)
    while table[id].children.count > position { unused.append(table.unlinkLast(of: id)) }
    for index in start..<found.count { table.link(found[index], to: id) }
    found.removeLast(found.count - start)
  }

  private func dependencyList(of id: EntryID, in session: ReadSession) -> DependencyList {
    session.collect { reads in
      for child in table[id].children {
        if let record = table[child].record {
          reads.append(Dependency(record))
        } else if let node = table[child].node, let result = table[child].result {
          reads.append(Dependency(node, result))
        }
      }
    }
  }

  // MARK: Ends of steps

  /// Keeps a result whose dependencies have equal values.
  ///
  /// Its dependencies at any depth may differ. It then repeats their places, without a run.
  private func keepResult(of id: EntryID, hasMoved: Bool, in session: ReadSession) {
    if hasMoved, let result = table[id].result {
      let moved = result.replacing(dependencyList(of: id, in: session))
      table[id].node?.publish(moved)
      return finish(id, with: moved)
    }
    table[id].phase = .clean
    steps.removeLast()
  }

  private func finish(_ id: EntryID, with result: ComputedResult) {
    var replaced: ComputedResult? = result
    swap(&table[id].result, &replaced)
    table[id].phase = .clean
    steps.removeLast()
    guard let replaced else {
      table[id].changedPass = pass
      return
    }
    if replaced.version != result.version, table[id].node?.areEqual(replaced, result) != true {
      table[id].changedPass = pass
    }
    if replaced.hasMoved(to: result) { table[id].movedPass = pass }
  }

  private func trap(at id: EntryID) -> Never {
    let start = steps.firstIndex { $0.id == id } ?? steps.startIndex
    let nodes = (steps[start...].map(\.id) + [id]).compactMap { table[$0].node }
    ComputedCycle.trap(nodes)
  }
}
