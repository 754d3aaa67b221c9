import MiniRex
import MiniRexStore

private struct Item: Sendable, Identifiable {
  let id: Int
  var count = 0
}

private struct Board: Sendable {
  var count = 0
  var items: Rows<Item>
}

private enum BoardAction: Sendable {
  case increment
  case item(Int)
}

private typealias BoardStore = Store<Board, BoardAction>

private func board(_ count: Int) -> BoardStore {
  Store(Board(items: Rows((0..<count).map { Item(id: $0) }))) {
    (state: inout Board, action: BoardAction) in
    switch action {
    case .increment: state.count &+= 1
    case .item(let id): state.items[id: id]?.count &+= 1
    }
    return .none
  }
}

private func listenToRows(of store: BoardStore, _ acc: Acc) -> Holder<Subscription> {
  Holder(
    (0..<store.state.items.count).compactMap { id in
      let row: Store<Item, Int>? = store.scope(row: id, in: \.items) { id, _ in .item(id) }
      return row?.publisher(of: \.count).subscribe { acc.add($0) }
    })
}

/// A list with a subscriber for each row.
extension Suite {
  func rows() {
    for n in [1, 1000, 100_000] { rows(n, named: "rows-\(n)") }
    bench("rows-any-100000", "minirex") {
      let store = opaque(board(100_000))
      let acc = Acc()
      let tokens = listenToRows(of: store, acc)
      return { k in
        for i in 0..<k { store.send(.item(i &* 7919 % 100_000)) }
        withExtendedLifetime(tokens) {}
      }
    }
    bench("rows-idle", "minirex") {
      let store = opaque(board(1000))
      let tokens = listenToRows(of: store, Acc())
      return { k in
        for _ in 0..<k { store.send(.increment) }
        withExtendedLifetime(tokens) {}
      }
    }
    bench("rows-idle", "publisher(of:)") {
      let store = opaque(board(1000))
      let acc = Acc()
      let token = store.publisher(of: \.count).subscribe { acc.add($0) }
      return { k in
        for _ in 0..<k { store.send(.increment) }
        withExtendedLifetime(token) {}
      }
    }
  }

  /// Changes the same one of `n` rows each time.
  ///
  /// The baseline has `n` subscribers that compare their rows.
  func rows(_ n: Int, named name: String) {
    let changed = n / 2
    bench(name, "minirex") {
      let store = opaque(board(n))
      let acc = Acc()
      let tokens = listenToRows(of: store, acc)
      return { k in
        for _ in 0..<k { store.send(.item(changed)) }
        withExtendedLifetime(tokens) {}
      }
    }
    bench(name, "publisher(of:)") {
      let store = opaque(board(n))
      let acc = Acc()
      let tokens = Holder(
        (0..<n).map { id in
          store.publisher(of: { $0.items[id: id]?.count }).subscribe { acc.add($0 ?? 0) }
        })
      return { k in
        for _ in 0..<k { store.send(.item(changed)) }
        withExtendedLifetime(tokens) {}
      }
    }
  }
}
