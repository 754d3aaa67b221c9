/// A result of another reader, such as `current()`, which an entry takes.
///
/// The result that is taken first retains all results below it, so this reference does not.
struct TakenResult {
  let id: EntryID
  let result: UnretainedReference<ComputedResult>
}

/// Results that other readers have found: subscriptions with the same computed values, and
/// `current()`.
extension DependencyIndex {
  // MARK: Taking

  /// Takes a result that is correct at the time of the index, and the results that it was computed
  /// from.
  ///
  /// They are the results for the values of the index, so no dependencies are compared. O(entries
  /// that the change has marked), for all entries together.
  ///
  /// - Returns: `false` if the index has other dependencies, or one of the results is not known to
  ///   be correct. No other result is taken in this pass then.
  func take(_ id: EntryID) -> Bool {
    let isCollapsed = table[id].isCollapsed
    guard time > 0,
      isCollapsed || mayTake && !table[id].children.isEmpty && table[id].hasOtherResult,
      let result = table[id].node?.use({ $0.result }), result.isCorrect(at: time)
    else { return false }
    defer { taken.removeAll(keepingCapacity: true) }
    reach(id, UnretainedReference(result))
    var next = 0
    while next < taken.count {
      if !reachDependencies(of: taken[next]) {
        for entry in taken { table[entry.id].phase = .marked }
        mayTake = taken.count == 1 && mayTake
        return false
      }
      next += 1
    }
    for index in taken.indices {
      let entry = taken[index]
      replaceResult(of: entry.id, by: entry.result.use { $0 }, comparing: true)
    }
    table[id].takes.count += 1
    if table[id].takes.count == table[id].takes.limit { collapsible.append(id) }
    return withExtendedLifetime(result) { true }
  }

  private func reach(_ id: EntryID, _ result: UnretainedReference<ComputedResult>) {
    table[id].phase = .clean
    taken.append(TakenResult(id: id, result: result))
  }

  /// Returns `false` if the marked dependencies cannot be taken.
  private func reachDependencies(of reader: TakenResult) -> Bool {
    reader.result.use { result in
      if table[reader.id].isCollapsed {
        return table[reader.id].knownResult?.use { !$0.hasMoved(to: result) } ?? false
      }
      let count = table[reader.id].children.count
      if result.dependencies.count != count { return false }
      for position in 0..<count {
        let dependency = result.dependencies[position]
        let child = table[reader.id].children[position]
        if table[child].identity != dependency.identity { return false }
        if table[child].phase == .clean { continue }
        if table[child].phase == .running { return false }
        if !dependency.withResult({ $0.isCorrect(at: time) }) { return false }
        reach(child, dependency.result)
      }
      return true
    }
  }

  // MARK: Adopting

  /// Compares the dependencies of the candidate with the index, and runs the closure if they differ.
  func adopt(in step: Int, _ session: ReadSession) {
    guard let candidate = steps[step].candidate else { return }
    let id = steps[step].id
    let count = candidate.dependencies.count
    for position in steps[step].position..<count {
      let dependency = candidate.dependencies[position]
      inspectedCount += 1
      let (child, isNew) = child(for: dependency, at: position, in: step)
      if table[child].phase == .marked {
        steps[step].position = position
        return begin(child)
      }
      guard table[child].phase == .clean, table[child].isEqual(to: dependency) else {
        found.removeLast(found.count - steps[step].foundStart)
        steps[step].candidate = nil
        if compareEarlierResult(in: step, after: candidate) { return }
        return run(step, in: session)
      }
      if isNew {
        steps[step].difference = steps[step].difference ?? position
        found.append(child)
      }
      if table[child].hasMoved(since: dependency) { steps[step].hasMoved = true }
    }
    relink(step, from: steps[step].difference ?? count)
    var adopted = candidate
    if steps[step].hasMoved {
      adopted = candidate.replacing(dependencyList(of: id))
      if time > 0 { adopted.isNew(at: time) }
      table[id].node?.use { $0.publish(adopted) }
    }
    finish(id, with: adopted, comparing: true)
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
}
