import TestSupport
import Testing

@testable import MiniRexStore

/// Rows beside an array and a dictionary with the same content.
struct RowsModel {
  var rows: Rows<Todo> = []
  var order: [Int] = []
  var texts: [Int: String] = [:]

  mutating func change(_ id: Int, in round: Int, _ random: inout SeededGenerator) {
    let place = order.firstIndex(of: id)
    let text = "\(round)"
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<40:
      rows[id: id]?.text = text
      if place != nil { texts[id] = text }
    case 40..<55:
      let isNew = rows.append(Todo(id, text))
      #expect(isNew == (place == nil))
      if isNew { add(id, text, at: order.count) }
    case 55..<65:
      let position = Int.random(in: 0...order.count, using: &random)
      if rows.insert(Todo(id, text), at: position) { add(id, text, at: position) }
    case 65..<75:
      rows[id: id] = Todo(id, text)
      if place == nil { add(id, text, at: order.count) } else { texts[id] = text }
    case 75..<85:
      let removed = rows.remove(id: id)
      #expect(removed?.text == texts[id])
      remove([id])
    case 85..<90:
      rows[id: id] = nil
      remove([id])
    case 90..<96 where !order.isEmpty:
      let position = Int.random(in: 0..<order.count, using: &random)
      rows.move(id: id, to: position)
      if let place { order.insert(order.remove(at: place), at: position) }
    case 96:
      rows.removeAll { $0.id % 7 == id % 7 }
      remove(order.filter { $0 % 7 == id % 7 })
    case 97:
      update(to: order.shuffled(using: &random).dropLast(2) + [id, id], text)
    default: break
    }
  }

  /// Even ids are the section.
  private mutating func update(to news: [Int], _ text: String) {
    func isMember(_ id: Int) -> Bool { id.isMultiple(of: 2) }
    rows.update(to: news, id: { $0 }, where: { isMember($0.id) }) { Todo($1, "\(text) \($0)") }
    var section: [Int] = []
    for id in news where !section.contains(id) && (isMember(id) || texts[id] == nil) {
      if texts[id] == nil { texts[id] = "\(text) \(section.count)" }
      section.append(id)
    }
    let slots = order.indices.filter { isMember(order[$0]) }
    var places = order.map(Int?.some)
    for (place, slot) in slots.enumerated() {
      places[slot] = place < section.count ? section[place] : nil
    }
    places.insert(
      contentsOf: section.dropFirst(slots.count).map(Int?.some),
      at: (slots.last ?? order.count - 1) + 1)
    for id in order where isMember(id) && !section.contains(id) { texts[id] = nil }
    order = places.compactMap { $0 }
  }

  private mutating func add(_ id: Int, _ text: String, at position: Int) {
    order.insert(id, at: position)
    texts[id] = text
  }

  private mutating func remove(_ ids: [Int]) {
    order.removeAll(where: ids.contains)
    for id in ids { texts[id] = nil }
  }

  func expectAgreement() {
    #expect(rows.ids == order)
    #expect(rows.map(\.text) == order.map { texts[$0] })
    #expect(order.enumerated().allSatisfy { rows.index(id: $1) == $0 })
    #expect(rows.positions.count == order.count)
  }

  /// - Returns: 1 if the changes are reported individually; otherwise, 0.
  func expectChanges(since other: RowsModel) -> Int {
    let isSame = order == other.order && texts == other.texts
    #expect((rows == other.rows) == isSame)
    if rows.stamp == other.rows.stamp { #expect(isSame) }
    if rows.structureStamp == other.rows.structureStamp { #expect(order == other.order) }
    guard let changed = rows.ids(changedSince: other.rows.stamp) else { return 0 }
    let different = Set(texts.keys).union(other.texts.keys).filter { texts[$0] != other.texts[$0] }
    #expect(Set(changed).isSuperset(of: different))
    #expect(Set(changed).count == changed.count)
    return 1
  }
}
