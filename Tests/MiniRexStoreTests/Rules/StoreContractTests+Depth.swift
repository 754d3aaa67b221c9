import MiniRex
import MiniRexStore
import TestSupport
import Testing

/// Actions that count, and effects that are accumulated in a loop.
private enum Deep: Sendable {
  case start
  case count
}

private enum Way: String, CaseIterable, Sendable {
  case mergeFirst, mergeLast, concatenateFirst, concatenateLast, alternating, cancellable

  func nested(_ depth: Int) -> Effect<Deep> {
    var all = Effect<Deep>.none
    for number in 0..<depth {
      let next = Effect<Deep>.send(.count)
      all =
        switch self {
        case .mergeFirst: .merge(all, next)
        case .mergeLast: .merge(next, all)
        case .concatenateFirst: .concatenate(all, next)
        case .concatenateLast: .concatenate(next, all)
        case .alternating: number % 2 == 0 ? .merge(all, next) : .concatenate(all, next)
        case .cancellable: number % 1_000 == 0 ? all.cancellable(id: number) : .merge(all, next)
        }
    }
    return all
  }

  var expected: Int { self == .cancellable ? Way.depth - (Way.depth + 999) / 1_000 : Way.depth }

  static let depth = chainSteps(overflowingDepth)
}

/// An object that retains the next object of a chain, and runs a closure in `deinit`.
private final class Owner: Sendable {
  private let next: (any Sendable)?
  private let onRelease: @Sendable () -> Void

  init(_ next: (any Sendable)?, onRelease: @escaping @Sendable () -> Void) {
    self.next = next
    self.onRelease = onRelease
  }

  deinit { onRelease() }
}

extension StoreContractTests {
  @Test(arguments: Way.allCases)
  private func `S23 effects nested 100,000 deep fit a 512 KiB stack`(
    _ way: Way
  ) async {
    let last = Shared(0)
    await onQueue {
      onThread(stackSize: 512 * 1_024) {
        let store = Store(0) { (state: inout Int, action: Deep) -> Effect<Deep> in
          guard case .start = action else {
            state += 1
            return .none
          }
          return way.nested(Way.depth).map { $0 }.map { $0 }
        }
        store.send(.start)
        last.value = store.state
        #expect(store.hasForgottenEffects)
      }
    }

    #expect(last.value == way.expected)
  }

  @Test(arguments: Way.allCases)
  private func `S23 nested effects that never run are released on a small stack`(_ way: Way) async {
    let isReleased = Shared(false)
    await onQueue {
      onThread(stackSize: 512 * 1_024) {
        let witness = Witness { isReleased.value = true }
        var effect = Effect<Deep>.run { _ in witness.touch() }
        effect = .merge(way.nested(Way.depth).map { $0 }, effect)
        withExtendedLifetime(effect) {}
      }
    }

    #expect(isReleased.value)
  }

  @Test(arguments: [false, true])
  func `R11 stores whose states own the next are released on a small stack`(
    inHistory: Bool
  ) async {
    await #expect(processExitsWith: .success) { [inHistory] in
      mustEnd()
      let count = chainSteps(overflowingDepth)
      let ends = Shared(0)
      let first = Shared<Owner?>(nil)
      for _ in 0..<count {
        let store = Store<Owner?, Int>(Owner(first.value) { ends.increment() }) { state, _ in
          state = nil
          return .none
        }
        guard inHistory else {
          first.value = Owner(store) {}
          continue
        }
        let history = History(of: store, limit: 1)
        store.send(0)
        first.value = Owner(history) {}
      }

      onThread(stackSize: 512 * 1_024) { first.value = nil }

      precondition(ends.value == count)
    }
  }

  @Test func `S23 nested lists start their members in source order`() {
    let order = Shared<[Int]>([])
    @Sendable func member(_ number: Int) -> Effect<Int> {
      .publisher {
        order.append(number)
        return PublishedValue.constant(number).broadcaster
      }
    }
    let store = Store(0) { (state: inout Int, action: Int) -> Effect<Int> in
      if action > 0 { return .none }
      return .merge(
        .merge(member(1), .concatenate(.none, .concatenate(member(2), .none), member(5))),
        .concatenate(.merge(member(3), member(4)), member(6)))
    }

    store.send(0)

    #expect(order.value.prefix(4) == [1, 2, 3, 4])
    #expect(order.value.sorted() == [1, 2, 3, 4, 5, 6])
  }

  @Test func `S23 canceling a member of a nested list stops the concatenation`() async {
    let store = Store([Int]()) { (state: inout [Int], action: Int) -> Effect<Int> in
      state.append(action)
      if action != 0 { return .none }
      return .concatenate(
        .concatenate(.send(1), .run { _ in throw CancellationError() }, .send(2)), .send(3))
    }

    await #expect(throws: CancellationError.self) { try await store.send(0).finished() }

    #expect(store.state == [0, 1])
  }
}
