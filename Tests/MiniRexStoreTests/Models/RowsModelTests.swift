import TestSupport
import Testing

@testable import MiniRexStore

/// Compares rows with an array and a dictionary, and their reported changes with the real changes.
@Suite(.light) struct RowsModelTests {
  /// `MINIREX_SCALE=125` makes 1,000,000 changes.
  @Test(arguments: [8, 40, 2_000])
  func `random changes match an array and a dictionary`(ids: Int) {
    var random = SeededGenerator(seed: UInt64(ids))
    var model = RowsModel()
    var kept = [model]
    var known = 0
    for round in 0..<scaled(8_000) {
      model.change(Int.random(in: 0..<ids, using: &random), in: round, &random)
      if round.isMultiple(of: 50) {
        kept.append(model)
        if kept.count > 6 { kept.remove(at: Int.random(in: 0..<6, using: &random)) }
        if let other = kept.randomElement(using: &random) {
          known += model.expectChanges(since: other)
          if Int.random(in: 0..<10, using: &random) == 0 { model = other }
        }
      }
      if round.isMultiple(of: 1_000) { model.expectAgreement() }
    }
    for model in kept { model.expectAgreement() }
    #expect(known > scaled(8_000) / 1_000)
  }

  @Test(arguments: [1, 1_000])
  func `changes are reported individually up to max(64, n/8)`(count: Int) {
    let limit = max(64, count / 8)
    var rows = Rows((0..<count).map { Todo($0, "") })
    for _ in 0..<300 { rows[id: 0]?.text = "old" }
    let stamp = rows.stamp

    for change in 1...limit {
      rows[id: change % count]?.text = "\(change)"
      #expect(rows.ids(changedSince: stamp)?.count == min(change, count))
    }
    rows[id: 0]?.text = "one more"
    #expect(rows.ids(changedSince: stamp) == nil)
    #expect(rows.ids(changedSince: rows.stamp) == [])
  }

  @Test func `the change log grows with the rows`() {
    var rows = Rows((0..<500).map { Todo($0, "") })
    var stamps = [rows.stamp]
    for id in 500..<1_000 {
      rows.append(Todo(id, ""))
      stamps.append(rows.stamp)
      for changes in [1, 50, max(64, rows.count / 8)] where changes < stamps.count {
        let told = rows.ids(changedSince: stamps[stamps.count - 1 - changes])
        #expect(told.map(Set.init) == Set(rows.ids.suffix(changes)))
      }
      let tooMany = stamps.count - 2 - max(64, rows.count / 8)
      if tooMany >= 0 { #expect(rows.ids(changedSince: stamps[tooMany]) == nil) }
    }
  }

  @Test func `two diverging copies do not share their changes`() {
    let rows = Rows((0..<10).map { Todo($0, "") })
    var (one, other) = (rows, rows)
    one[id: 1]?.text = "one"
    other[id: 2]?.text = "other"
    other[id: 3]?.text = "other"

    #expect(one.ids(changedSince: rows.stamp) == [1])
    #expect(Set(other.ids(changedSince: rows.stamp) ?? []) == [2, 3])
    #expect(one.ids(changedSince: other.stamp) == nil && other.ids(changedSince: one.stamp) == nil)
    #expect(rows.ids(changedSince: one.stamp) == nil)
  }
}
