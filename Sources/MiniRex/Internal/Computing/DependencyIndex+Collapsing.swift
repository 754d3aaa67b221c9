/// Parts of the graph that another reader computes.
///
/// A subscriber that takes the results of a part in each pass needs no entry for each of them. The
/// entry at the top of the part is collapsed: its children are the sources of the part, and a pass takes
/// one result for the entire part, if it is correct at the time of the index and has the same shape.
/// Otherwise, the part is expanded to the results below its last result, as if the index had taken all of
/// them.
///
/// Further invariants:
/// - the children of a collapsed entry are the sources that its result depends on, at any depth
/// - a collapsed entry is not running
extension DependencyIndex {
  /// Replaces the dependencies of an entry by its sources, unless that needs more links.
  func collapse(_ id: EntryID) {
    guard !table[id].isCollapsed, let result = table[id].result else { return }
    guard let sources = sourceEntries(of: result) else {
      table[id].takes.limit *= 2
      return
    }
    removeChildren(of: id)
    table.reserve(sources.count, of: id)
    for source in sources { table.link(source, to: id) }
    table[id].isCollapsed = true
    collapsedCount += 1
  }

  /// Returns the entries of the sources that a result depends on, if collapsing removes links.
  private func sourceEntries(of result: ComputedResult) -> [EntryID]? {
    var found: [EntryID] = []
    var known: Set<ObjectIdentifier> = []
    var readCount = 0
    var open = [UnretainedReference(result)]
    while let next = open.popLast() {
      let areKnown = next.use { result in
        readCount += result.dependencies.count
        return result.dependencies.allSatisfy { dependency in
          if dependency.isComputed {
            let isNew = dependency.withResult { known.insert(ObjectIdentifier($0)).inserted }
            if isNew { open.append(dependency.result) }
            return true
          }
          if !known.insert(dependency.identity).inserted { return true }
          if let source = sources[dependency.identity] { found.append(source) }
          return sources[dependency.identity] != nil
        }
      }
      if !areKnown { return nil }
    }
    return 2 * found.count <= readCount ? found : nil
  }

  /// Expands the collapsed entries whose part may contain a computed value that a closure reads.
  ///
  /// A part that this pass has taken is at the time of the results that other readers have published.
  func expandAll() {
    let collapsed = values.values.filter { table[$0].isCollapsed && table[$0].takes.pass != pass }
    for id in collapsed { expand(id) }
  }

  /// Adds entries for the results that the result was computed from.
  ///
  /// They are clean, unless a change of this pass may affect them.
  func expand(_ id: EntryID) {
    removeChildren(of: id)
    table[id].isCollapsed = false
    collapsedCount -= 1
    table[id].takes.limit *= 2
    var open = [(reader: id, position: 0)]
    while let (reader, position) = open.last {
      guard let result = table[reader].knownResult else { misuse("An entry has no result.") }
      guard position < result.use({ $0.dependencies.count }) else {
        inspectChildren(of: reader)
        open.removeLast()
        continue
      }
      open[open.count - 1].position += 1
      switch result.use({ $0.dependencies[position].content }) {
      case .value(let record): table.link(source(record.storage), to: reader)
      case .computed(let node, let result):
        if let known = values[ObjectIdentifier(node)] {
          table.link(known, to: reader)
          continue
        }
        let child = addValue(node)
        table[child].result = result
        table[child].phase = .clean
        table.link(child, to: reader)
        open.append((child, 0))
      }
    }
  }

  private func removeChildren(of id: EntryID) {
    while !table[id].children.isEmpty { unused.append(table.unlinkLast(of: id)) }
  }

  /// Marks an expanded entry if a change may affect it, and gives it the dependencies of the index.
  private func inspectChildren(of id: EntryID) {
    let children = table[id].children
    let first = children.firstIndex { child in
      table[child].phase != .clean || table[child].changedPass == pass
        || table[child].movedPass == pass
    }
    if first != nil { table[id].phase = .marked }
    table[id].firstMarked = first ?? 0
    guard let result = table[id].result else { return }
    let hasMoved = children.indices.contains {
      table[children[$0]].hasMoved(since: result.dependencies[$0])
    }
    if hasMoved { table[id].result = result.replacing(dependencyList(of: id)) }
  }
}
