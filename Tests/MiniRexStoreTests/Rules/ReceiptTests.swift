import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// Sends that return a value of their own commit, rules F21 to F25.
@Suite(.light) struct ReceiptTests {
  @Test func `F21 send(_:reading:) returns a value from its own commit`() {
    let store = Store(Counter(), reducer: addOrRename)
    store.send(.rename("a"))

    let receipt = store.send(.add(3)) { ($0.count, $0.name) }

    #expect(receipt.value == (3, "a"))
    #expect(receipt.number == 2 && receipt.task.number == 2)
    #expect(receipt.task.isFinished)
    #expect(store.send(.rename("b")).number == 3)
  }

  @Test func `F21 read runs before delivery`() {
    let store = Store(Counter(), reducer: addOrRename)
    let order = Shared<[String]>([])
    let subscription = store.publisher(of: \.count).dropFirst().subscribe { order.append("\($0)") }

    _ = store.send(.add(1)) { order.append("read \($0.count)") }

    #expect(order.value == ["read 1", "1"])
    withExtendedLifetime(subscription) {}
  }

  @Test func `F21 contended increments read each value once, equal to its number`() {
    let (threads, count) = (8, scaled(3_000))
    let store = Store(Counter(), reducer: addOrRename)
    let seen = Shared<[Int]>([])
    let subscription = store.publisher(of: \.count).dropFirst(count).subscribe { _ in }

    onThreads(threads) { _ in
      var own: [Int] = []
      own.reserveCapacity(count)
      for _ in 0..<count {
        let receipt = store.send(.add(1)) { $0.count }
        if receipt.value == receipt.number { own.append(receipt.value) }
      }
      seen.change { $0 += own }
    }

    #expect(seen.value.sorted() == Array(1...threads * count))
    withExtendedLifetime(subscription) {}
  }

  @Test func `F21 a sender reads its own commit while another thread delivers`() {
    let store = Store(Counter(), reducer: addOrRename)
    let (isDelivering, mayContinue) = (Gate(), Gate())
    let subscription = store.publisher(of: \.count).dropFirst().subscribe { count in
      if count == 1 {
        isDelivering.open()
        mayContinue.wait()
      }
    }

    onThreads(2) { index in
      if index == 0 {
        store.send(.add(1))
      } else {
        isDelivering.wait()
        let receipt = store.send(.add(1)) { $0.count }
        #expect(receipt.value == 2 && receipt.number == 2)
        mayContinue.open()
      }
    }
    withExtendedLifetime(subscription) {}
  }

  @Test func `F22 a chain is read after its last commit, before its effects begin`() async throws {
    let order = Shared<[String]>([])
    let store = Store([Int]()) { (state: inout [Int], action: Int) -> Effect<Int> in
      state.append(action)
      switch action {
      case 1: return .merge(.send(2), .send(3), .run { _ in order.append("run") })
      case 2: return .publisher { PublishedValue.constant(9) }
      default: return .none
      }
    }

    let receipt = store.send(1) { state in
      order.append("read")
      return state
    }

    #expect(receipt.value == [1, 2, 3])
    #expect(receipt.number == 3)
    try await receipt.task.finished()
    #expect(order.value == ["read", "run"])
    #expect(store.state == [1, 2, 3, 9])
  }

  @Test func `F22 actions that a reducer or a history's predicate sends belong to the chain`() {
    let sender = WeakBox<Store<[Int], Int>>()
    let store = storeWithin([Int]()) {
      (store: Store<[Int], Int>, state: inout [Int], action: Int) -> Effect<Int> in
      state.append(action)
      if action == 1 { store.send(2) }
      return .none
    }
    sender.value = store

    #expect(store.send(1) { $0 }.value == [1, 2])
    let history = History(of: store) { commit in
      if case .action(5) = commit.cause { sender.value?.send(6) }
      return true
    }
    let receipt = store.send(5) { $0 }
    #expect(receipt.value == [1, 2, 5, 6])
    #expect(receipt.number == 4)
    #expect(store.send(7).number == 5)
    withExtendedLifetime(history) {}
  }

  @Test func `F23 reading borrows the state`() {
    let store = Store([Nosy(1)]) { (state: inout [Nosy], action: Int) -> Effect<Int> in
      state[0] = Nosy(action)
      return .none
    }
    @Sendable func address(_ state: [Nosy]) -> UInt {
      unsafe state.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
    }

    let first = store.send(2, reading: address).value
    for number in 3..<100 {
      #expect(store.send(number, reading: address).value == first)
    }
  }

  @Test func `F24 a plain send inside the reducer is queued, and has no number`() {
    let inner = Shared<[Int?]>([])
    let store = storeWithin([Int]()) {
      (store: Store<[Int], Int>, state: inout [Int], action: Int) -> Effect<Int> in
      state.append(action)
      if action == 1 { inner.append(store.send(2).number) }
      return .none
    }

    #expect(store.send(1).number == 2)
    #expect(inner.value == [nil])
  }

  static let traps: [Trap] = [
    Trap("inside its own reducer") {
      let store = storeWithin(0) {
        (store: Store<Int, Int>, state: inout Int, action: Int) -> Effect<Int> in
        _ = store.send(2) { $0 }
        return .none
      }
      store.send(1)
    },
    Trap("inside its own reducer") {
      let store = storeWithin(0) {
        (store: Store<Int, Int>, state: inout Int, action: Int) -> Effect<Int> in
        store.send { $0 + 1 }
        return .none
      }
      store.send(1)
    },
    Trap("inside the closure of its own 'send") {
      let store = Store(Counter(), reducer: addOrRename)
      _ = store.send(.add(1)) { _ in store.state }
    },
    Trap("inside the closure of its own 'send") {
      let store = Store(Counter(), reducer: addOrRename)
      _ = store.send(.add(1)) { _ in store.send(.add(1)) }
    },
    Trap("inside the closure of its own 'send") {
      let store = Store(Counter(), reducer: addOrRename)
      _ = store.send(.add(1)) { _ in store.send(.add(1)) { $0.count } }
    },
    Trap("inside the closure of its own 'send") {
      let store = Store(Counter(), reducer: addOrRename)
      store.send { _ in .add(store.send(.add(1)).number ?? 0) }
    },
    Trap("inside the closure of its own 'send") {
      let store = Housekeeping().store(House(guest: Room()))
      let hall: Store<Room, RoomAction> = store.scope(\.hall) { .hall($0) }
      _ = hall.send(.light) { _ in hall.send(.light) }
    },
    Trap("inside its own reducer") {
      let box = WeakBox<Store<Room, RoomAction>>()
      let store = Store(House()) { (_: inout House, _: HouseAction) -> Effect<HouseAction> in
        _ = box.value?.send(.light) { $0.lamps }
        return .none
      }
      let hall: Store<Room, RoomAction> = store.scope(\.hall) { .hall($0) }
      box.value = hall
      withExtendedLifetime(hall) { _ = store.send(.leave) }
    },
  ]

  @Test(arguments: traps.indices)
  func `F24 using the store in a closure of send, or reading in its reducer, traps`(
    _ index: Int
  ) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [index] in
      await ReceiptTests.traps[index].mistake()
    }
    #expect(advice(result).contains(Self.traps[index].message))
  }

  @Test func `F25 in a callback, it commits and reads immediately`() {
    let store = Store(Counter(), reducer: addOrRename)
    let order = Shared<[String]>([])
    let first = store.publisher(of: \.count).dropFirst().subscribe { count in
      order.append("first \(count)")
      if count == 1 {
        let receipt = store.send(.add(10)) { $0.count }
        order.append("receipt \(receipt.value) \(receipt.number ?? 0)")
      }
    }
    let second = store.publisher(of: \.count).dropFirst().subscribe { order.append("second \($0)") }

    store.send(.add(1))

    #expect(
      order.value == ["first 1", "receipt 11 2", "second 1", "first 11", "second 11"])
    withExtendedLifetime((first, second)) {}
  }
}
