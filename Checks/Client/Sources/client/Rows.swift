import MiniRexStore

struct Bulb: Identifiable, Codable, Equatable, Sendable {
  var id: Int
  var watts = 0
}

func rows() {
  var bulbs: Rows = [Bulb(id: 1), Bulb(id: 2)]
  expect(bulbs == Rows([Bulb(id: 1), Bulb(id: 2)]) && Rows<Bulb>().isEmpty)
  bulbs[id: 1]?.watts = 60
  expect(bulbs[id: 1]?.watts == 60 && bulbs[0].watts == 60)
  let added = [bulbs.append(Bulb(id: 3)), bulbs.insert(Bulb(id: 0), at: 0)]
  bulbs.move(id: 3, to: 0)
  expect(added == [true, true] && bulbs.ids == [3, 0, 1, 2] && bulbs.index(id: 3) == 0)
  let removed = bulbs.remove(id: 3)
  bulbs.removeAll { $0.id == 0 }
  bulbs.update(
    to: [2, 3, 1], id: { $0 }, where: { $0.id > 0 }, create: { Bulb(id: $1, watts: $0) })
  expect(removed?.id == 3 && bulbs.map(\.watts) == [0, 1, 60])
  expect(bulbs.startIndex == 0 && bulbs.endIndex == 3 && "\(bulbs)" == "\(Array(bulbs))")
  expect(bulbs.customMirror.children.count == 3)
  expect(bulbs.withContiguousStorageIfAvailable { $0.count } == 3)
  let encode: (any Encoder) throws -> Void = bulbs.encode(to:)
  let decode: (any Decoder) throws -> Rows<Bulb> = Rows.init(from:)
  withExtendedLifetime((encode, decode)) {}
}
