/// The jobs of one state, which a live query passes to its first stage.
final class JobsInput<Job: Codable & Identifiable & Sendable>: LiveInput
where Job.ID: Codable & Sendable {
  let tree: JobTree<Job>

  init(_ jobs: Jobs<Job>) {
    tree = jobs.nodes
  }
}

/// The first stage of a query: follows jobs by the nodes that two versions share.
///
/// Serial, as its stage.
final class JobsIndex<Job: Codable & Identifiable & Sendable>
where Job.ID: Codable & Sendable {
  private(set) var tree: JobTree<Job>?

  func apply(_ next: JobTree<Job>) -> LiveChange {
    guard let last = tree else {
      tree = next
      return .reset
    }
    var change = LiveChange()
    next.visitChanges(from: last, by: \.number, isSame: { $0.box === $1.box }) { old, new in
      if let old, let new, old.element.box.entry.id == new.element.box.entry.id {
        change.updates.append(new.at)
        return
      }
      if let old { change.removals.append(old.at) }
      if let new { change.insertions.append(LiveChange.Insertion(at: new.at)) }
    }
    tree = next
    return change
  }
}
