/// Parts of the graph that another reader computes.
///
/// A subscriber that takes the results of a part in each pass needs no entry for each of them. The
/// entry at the top of the part is collapsed: its children are the sources of the part, and a pass
/// takes one result for the entire part, if it is correct at the time of the index and has the same
/// shape. Otherwise, the entry loses its children, and adopts a result like a new entry. Results
/// below an equal result may be old, so nothing below a collapsed entry is used without a comparison.
///
/// Further invariants:
/// - the children of a collapsed entry are the sources that its result depends on, at any depth
/// - a collapsed entry is not running
extension DependencyIndex {
  /// Replaces the dependencies of an entry by its sources, unless that needs more links.
  func collapse(_ id: EntryID) {
    if table[id].isCollapsed || table[id].phase != .clean { return }
    guard let sources = sourceEntries(below: id) else {
      table[id].takes.limit *= 2
      return
    }
    removeChildren(of: id)
    table.reserve(sources.count, of: id)
    for source in sources { table.link(source, to: id) }
    table[id].isCollapsed = true
    collapsedCount += 1
  }

  /// Returns the sources that an entry depends on at any depth, if fewer links lead to them.
  private func sourceEntries(below id: EntryID) -> [EntryID]? {
    var found: [EntryID] = []
    var known: Set<EntryID> = []
    var linkCount = 0
    var open = [id]
    while let next = open.popLast() {
      linkCount += table[next].children.count
      for child in table[next].children where known.insert(child).inserted {
        if table[child].node == nil { found.append(child) } else { open.append(child) }
      }
    }
    return 2 * found.count <= linkCount ? found : nil
  }

  /// Removes the children of a collapsed entry, which then adopts a result.
  func expand(_ id: EntryID) {
    if let result = table[id].result { expanded.append(result) }
    removeChildren(of: id)
    table[id].isCollapsed = false
    collapsedCount -= 1
    table[id].takes.limit *= 2
  }

  private func removeChildren(of id: EntryID) {
    while !table[id].children.isEmpty { unused.append(table.unlinkLast(of: id)) }
  }

  // MARK: Earlier results

  /// Makes the result that a collapsed part has used the next candidate, if there is one.
  ///
  /// Another reader may have replaced it by a newer result.
  func compareEarlierResult(in step: Int, after last: ComputedResult?) -> Bool {
    let id = steps[step].id
    if steps[step].hasComparedEarlier || collapsedCount == 0 && expanded.isEmpty { return false }
    guard table[id].children.isEmpty, let identity = table[id].identity,
      let earlier = table[id].result ?? earlierResults[identity], earlier !== last
    else { return false }
    steps[step].hasComparedEarlier = true
    compare(earlier, in: step)
    return true
  }

  /// The results below the collapsed entries, also of entries that this pass has expanded.
  ///
  /// O(results) for all calls of a pass.
  private var earlierResults: [ObjectIdentifier: ComputedResult] {
    if let earlier { return earlier }
    var results: [ObjectIdentifier: ComputedResult] = [:]
    var open = expanded
    for id in values.values where table[id].isCollapsed {
      if let result = table[id].result { open.append(result) }
    }
    while let next = open.popLast() {
      for dependency in next.dependencies where results[dependency.identity] == nil {
        guard case .computed(_, let result) = dependency.content else { continue }
        results[dependency.identity] = result
        open.append(result)
      }
    }
    earlier = results
    return results
  }

  func releaseEarlierResults() {
    if expanded.isEmpty && earlier == nil { return }
    let released = (expanded, earlier)
    (expanded, earlier) = ([], nil)
    withExtendedLifetime(released) {}
  }
}
