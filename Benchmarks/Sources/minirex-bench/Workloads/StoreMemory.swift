import MiniRex
import MiniRexStore

private struct Item: Sendable, Identifiable {
  let id: Int
  var count = 0
}

private struct Pair: Sendable {
  var one = 0
  var other = 0
}

/// The memory of a store and of its scopes.
///
/// Child state is weighed only where each scope has its own.
extension Suite {
  func storeMemory() {
    weigh("store-memory", "minirex", count: 100_000) { n in
      Holder((0..<n).map { Store<Int, Never>($0) })
    }
    // A store has one scope for each child, so each scope belongs to another store, which has
    // already had a scope.
    weighAlone("scope-memory", "minirex", count: 100_000) { n in
      let stores = (0..<n).map { _ in Store<Pair, Never>(Pair()) }
      let firsts = stores.map { $0.scope(\.one) }
      return { Holder<AnyObject>([Holder(firsts), Holder(stores.map { $0.scope(\.other) })]) }
    }
    weighAlone("row-memory", "minirex", count: 100_000) { n in
      let store = Store<Rows<Item>, Never>(Rows((0..<n).map { Item(id: $0) }))
      let acc = Acc()
      return {
        Holder<AnyObject>(
          (0..<n).compactMap { id in
            store.scope(row: id, in: \.self)?.publisher(of: \.count).subscribe { acc.add($0) }
          })
      }
    }
  }
}
