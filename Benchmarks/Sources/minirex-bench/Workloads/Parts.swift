import MiniRex
import MiniRexStore
import Synchronization

private struct Counter: Sendable { var count = 0 }

/// A state with twenty members, each with a subscriber.
private struct House: Sendable {
  struct Floor: Sendable {
    var a = Counter(), b = Counter(), c = Counter(), d = Counter(), e = Counter()
  }
  var first = Floor(), second = Floor(), third = Floor(), fourth = Floor()
}

private typealias Room = any WritableKeyPath<House, Counter> & Sendable

private let rooms: [Room] = [
  \.first.a, \.first.b, \.first.c, \.first.d, \.first.e,
  \.second.a, \.second.b, \.second.c, \.second.d, \.second.e,
  \.third.a, \.third.b, \.third.c, \.third.d, \.third.e,
  \.fourth.a, \.fourth.b, \.fourth.c, \.fourth.d, \.fourth.e,
]

/// The baseline: closures behind a `Mutex` that each compare their member.
private final class MutexHouse: Sendable {
  private let state = Mutex(House())
  nonisolated(unsafe) private var subscribers: [@Sendable (House) -> Void] = []

  func follow(
    _ part: @escaping @Sendable (House) -> Int, _ receive: @escaping @Sendable (Int) -> Void
  ) {
    let last = Cell(0)
    subscribers.append { house in
      let now = part(house)
      if now == last.p.pointee { return }
      last.p.pointee = now
      receive(now)
    }
  }

  @inline(__always)
  func change(_ body: (inout sending House) -> Void) {
    let house = state.withLock { state in
      body(&state)
      return state
    }
    for subscriber in subscribers { subscriber(house) }
  }
}

private func looks() -> [@Sendable (House) -> Int] {
  [
    { $0.first.a.count }, { $0.first.b.count }, { $0.first.c.count }, { $0.first.d.count },
    { $0.first.e.count },
    { $0.second.a.count }, { $0.second.b.count }, { $0.second.c.count }, { $0.second.d.count },
    { $0.second.e.count },
    { $0.third.a.count }, { $0.third.b.count }, { $0.third.c.count }, { $0.third.d.count },
    { $0.third.e.count },
    { $0.fourth.a.count }, { $0.fourth.b.count }, { $0.fourth.c.count }, { $0.fourth.d.count },
    { $0.fourth.e.count },
  ]
}

/// Scopes of a store: their subscriptions, and their creation.
extension Suite {
  func parts() {
    bench("store-parts-20", "minirex") {
      let store = opaque(Store<House, Never>(House()))
      let acc = Acc()
      let tokens = Holder(
        rooms.map { store.scope($0).publisher(of: \.count).subscribe { acc.add($0) } })
      return { k in
        for _ in 0..<k { store.commit { $0.third.b.count &+= 1 } }
        withExtendedLifetime(tokens) {}
      }
    }
    bench("store-parts-20", "publisher(of:)") {
      let store = opaque(Store<House, Never>(House()))
      let acc = Acc()
      let tokens = Holder(looks().map { store.publisher(of: $0).subscribe { acc.add($0) } })
      return { k in
        for _ in 0..<k { store.commit { $0.third.b.count &+= 1 } }
        withExtendedLifetime(tokens) {}
      }
    }
    bench("store-parts-20", "Mutex") {
      let house = opaque(MutexHouse())
      let acc = Acc()
      for look in looks() { house.follow(look) { acc.add($0) } }
      return { k in for _ in 0..<k { house.change { $0.third.b.count &+= 1 } } }
    }
    findParts()
  }

  /// A scope that is in use, and a scope that is created and released.
  private func findParts() {
    bench("store-scope", "minirex") {
      let store = opaque(Store<House, Never>(House()))
      let held = store.scope(\.third.b)
      return { k in
        for _ in 0..<k { _ = opaque(store.scope(\.third.b)) }
        withExtendedLifetime(held) {}
      }
    }
    bench("store-scope-made", "minirex") {
      let store = opaque(Store<House, Never>(House()))
      return { k in for _ in 0..<k { _ = opaque(store.scope(\.third.b)) } }
    }
    for name in ["store-scope", "store-scope-made"] {
      bench(name, "Dictionary") {
        let known: [AnyKeyPath: Holder<Int>] = opaque([\House.third.b: Holder([1])])
        return { k in for _ in 0..<k { _ = opaque(known[\House.third.b]) } }
      }
    }
  }
}
