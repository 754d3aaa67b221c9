import MiniRexStore

struct Flat: Sendable, Equatable {
  var hall = Bulb(id: 1)
  var desk: Bulb?
  var bulbs: Rows<Bulb> = [Bulb(id: 7), Bulb(id: 8)]
}

enum FlatAction: Sendable {
  case hall(Int)
  case desk(Int)
  case bulb(Int, Int)
  case buy
}

func scopes() {
  let bulb: Reducer<Bulb, Int> = { state, watts in
    state.watts += watts
    return .none
  }
  let store = Store(Flat()) { (state: inout Flat, action: FlatAction) in
    switch action {
    case .hall(let watts): return .reduce(&state, \.hall, watts, by: bulb) { .hall($0) }
    case .desk(let watts): return .reduce(&state, ifPresent: \.desk, watts, by: bulb) { .desk($0) }
    case .bulb(let id, let watts):
      return .reduce(&state, row: id, in: \.bulbs, watts, by: bulb) { .bulb($0, $1) }
    case .buy: state.desk = Bulb(id: 2)
    }
    return .none
  }
  store.send(.buy)
  let hall: Store<Bulb, Int> = store.scope(\.hall) { .hall($0) }
  let desk: Store<Bulb, Int>? = store.scope(ifPresent: \.desk) { .desk($0) }
  hall.send(40)
  desk?.send(60)
  expect(hall.watts == 40 && desk?.watts == 60 && desk?.isActive == true)

  let first: Store<Bulb, Int>? = store.scope(row: 7, in: \.bulbs) { .bulb($0, $1) }
  first?.send(25)
  let all: [Store<Bulb, Int>] = store.scope(rows: \.bulbs) { .bulb($0, $1) }
  expect(store.ids(in: \.bulbs) == [7, 8] && all.map(\.watts) == [25, 0] && all[0] === first)

  let plain = Store(Flat(desk: Bulb(id: 3)))
  plain.scope(\.hall).watts = 5
  plain.scope(ifPresent: \.desk)?.commit { $0.watts = 6 }
  plain.scope(row: 8, in: \.bulbs)?.watts = 7
  expect(plain.hall.watts == 5 && plain.desk?.watts == 6)
  expect(plain.scope(rows: \.bulbs).map(\.watts) == [0, 7])
}
