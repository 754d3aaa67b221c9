import MiniRex
import MiniRexStore
import TestSupport

/// An array that follows a query of any row by its updates, and collects their faults.
final class PlainMirror: Sendable {
  private struct Seen: Sendable {
    var rows: [PlainRow] = []
    var published: [PlainRow] = []
    var count = -1
    var updates = 0
    var faults: [String] = []
  }

  let naive: NaiveQuery
  /// A Boolean value that indicates whether every update of an equal row is a fault.
  let isStrict: Bool
  private let seen = Shared(Seen())
  private let bag = SubscriptionBag()

  init<Row: ModelRow>(_ query: LiveRows<Row>, _ naive: NaiveQuery) {
    self.naive = naive
    isStrict = Row.self is any Equatable.Type
    let rows = Shared<[Row]>([])
    query.updates.subscribe { [seen, isStrict] update in
      let (old, new) = rows.change { rows in
        let old = rows
        update.apply(to: &rows)
        return (old.map(\.plain), rows.map(\.plain))
      }
      var faults: [String] = []
      if case .changes(let changes) = update {
        faults = findFaults(changes, old, new, isStrict: isStrict)
      }
      seen.change { seen in
        seen.updates += 1
        seen.rows = new
        seen.faults += faults
      }
    }.store(in: bag)
    let last = Shared<RowsSnapshot<Row>?>(nil)
    query.publisher.subscribe { [seen] snapshot in
      let plain = snapshot.map(\.plain)
      var faults: [String] = []
      if let old = last.value {
        var rows = Array(old)
        if let changes = snapshot.changes(since: old) {
          RowsUpdate.changes(changes).apply(to: &rows)
        }
        if rows.map(\.plain) != plain { faults = ["changes(since:) is wrong"] }
      }
      last.value = snapshot
      seen.change { seen in
        seen.published = plain
        seen.faults += faults
      }
    }.store(in: bag)
    query.count.subscribe { [seen] count in seen.change { $0.count = count } }.store(in: bag)
  }

  var updates: Int { seen.change { $0.updates } }

  /// The first fault, and the faults of the updates since the last call.
  func faults(in board: TicketBoard) -> [String] {
    let expected = naive.rows(board)
    return seen.change { seen in
      var faults = seen.faults
      seen.faults = []
      if seen.rows != expected {
        faults.append("\(seen.rows.map(\.content)) instead of \(expected.map(\.content))")
      }
      if seen.published != expected { faults.append("publisher: \(seen.published.map(\.content))") }
      if seen.count != expected.count { faults.append("count: \(seen.count)") }
      return faults.map { "\(naive.text): \($0)" }
    }
  }
}

/// Finds updates without a change, and changes in the wrong order.
private func findFaults<Row: ModelRow>(
  _ changes: [RowsChange<Row>], _ old: [PlainRow], _ new: [PlainRow], isStrict: Bool
) -> [String] {
  let before = Dictionary(uniqueKeysWithValues: old.map { ($0.id, $0) })
  var faults: [String] = []
  if changes.isEmpty { faults.append("no changes") }
  var last = (0, -1)
  for change in changes {
    let place: (Int, Int)
    switch change {
    case .removed(let id, let position):
      place = (0, position)
      if old[position].id != id { faults.append("another row is at the place of \(change)") }
    case .inserted(let row, let position):
      place = (1, position)
      if new[position] != row.plain { faults.append("wrong row: \(change)") }
    case .moved(let row, let from, let to):
      place = (1, to)
      if old[from].id != row.id || new[to] != row.plain { faults.append("wrong row: \(change)") }
    case .updated(let row, let position):
      place = (2, position)
      if new[position] != row.plain { faults.append("wrong row: \(change)") }
      if isStrict, before[row.id] == row.plain { faults.append("no change: \(change)") }
    }
    if place <= last { faults.append("not in order: \(changes)") }
    last = place
  }
  return faults
}
