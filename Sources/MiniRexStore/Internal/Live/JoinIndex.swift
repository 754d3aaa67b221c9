import MiniRex

/// The index of a join: the references of the rows, the rows that refer to each other row, and the
/// other rows.
final class JoinIndex<Other: Identifiable & Sendable> where Other.ID: Sendable {
  private var order = SourceOrder()
  /// The ID of the other row to which each row refers, by the handle of the row.
  private var references: [Other.ID?] = []
  private var referring: [Other.ID: Set<UInt32>] = [:]
  private var others: [Other.ID: Other] = [:]
  private var otherIDs = PositionTree<Other.ID, Never>()
  private let changeTest = ChangeTest<Other>()

  func other(at position: Int) -> Other? {
    references[Int(order.handle(at: position))].flatMap { others[$0] }
  }

  /// Takes a change of the other rows.
  ///
  /// - Returns: The IDs of the other rows that have changed, or `nil` for all of them.
  func apply(other change: LiveChange, _ stage: LiveStage<Other>) -> Set<Other.ID>? {
    if change.isReset {
      otherIDs = PositionTree(stage.rows.lazy.map(\.id))
      others = Dictionary(stage.rows.lazy.map { ($0.id, $0) }) { first, _ in first }
      return nil
    }
    let removed = change.removals.map { otherIDs[$0] }
    otherIDs.apply(change) { stage.row($0).id }
    var changed: Set<Other.ID> = []
    let moved = change.insertions.filter { !$0.isSame }
    for position in moved.map(\.at) + change.updates {
      let other = stage.row(position)
      if let old = others.updateValue(other, forKey: other.id), !changeTest(old, other) { continue }
      changed.insert(other.id)
    }
    let inserted = Set(change.insertions.map { otherIDs[$0.at] })
    for id in removed where !inserted.contains(id) {
      others[id] = nil
      changed.insert(id)
    }
    return changed
  }

  /// Returns the change of the result that a change of the source causes.
  ///
  /// - Parameters:
  ///   - changed: The IDs of the other rows that have changed.
  ///   - reference: The reference, by the position in the source. Called once for each changed row.
  func apply(
    _ change: LiveChange, _ count: Int, changed: Set<Other.ID>?, _ reference: (Int) -> Other.ID?
  ) -> LiveChange {
    if change.isReset {
      order.rebuild(count)
      references = (0..<count).map(reference)
      referring = [:]
      for (handle, id) in references.enumerated() {
        if let id { referring[id, default: []].insert(UInt32(handle)) }
      }
      return .reset
    }
    var result = change
    for position in change.removals.reversed() { refer(order.remove(at: position), to: nil) }
    for insertion in change.insertions {
      let handle = order.insert(at: insertion.at)
      if handle == references.count { references.append(nil) }
      refer(handle, to: reference(insertion.at))
    }
    for position in change.updates { refer(order.handle(at: position), to: reference(position)) }
    guard let changed else { return .reset }
    if changed.isEmpty { return result }
    result.insertions = change.insertions.map { insertion in
      let id = insertion.isSame ? references[Int(order.handle(at: insertion.at))] : nil
      guard let id, changed.contains(id) else { return insertion }
      // The row has not changed, but the other row has.
      return LiveChange.Insertion(at: insertion.at, from: insertion.from)
    }
    var updates = Set(change.updates)
    for id in changed {
      for handle in referring[id] ?? [] { updates.insert(order.position(of: handle)) }
    }
    updates.subtract(change.insertions.map(\.at))
    result.updates = updates.sorted()
    return result
  }

  private func refer(_ handle: UInt32, to id: Other.ID?) {
    let old = references[Int(handle)]
    if old == id { return }
    references[Int(handle)] = id
    if let old {
      referring[old]?.remove(handle)
      if referring[old]?.isEmpty == true { referring[old] = nil }
    }
    if let id { referring[id, default: []].insert(handle) }
  }
}
