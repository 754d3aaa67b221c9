import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// Receipts of scopes, rule F26.
extension ReceiptTests {
  @Test func `F26 a scope reads its child state, with the root's numbers`() {
    let store = Housekeeping().store(House(guest: Room()))
    let hall: Store<Room, RoomAction> = store.scope(\.hall) { .hall($0) }
    let guest: Store<Room, RoomAction>? = store.scope(ifPresent: \.guest) { .guest($0) }

    store.send(.cancel("none"))
    let first = hall.send(.light) { $0.lamps }
    let second = guest?.send(.twice) { $0.lamps }

    #expect(first.value == 1 && first.number == 2)
    #expect(second?.value == 2 && second?.number == 5)
    #expect(hall.send(.light).number == 6)
  }

  @Test func `F26 if the chain removes the child, read gets the last child state`() {
    // A chain that changes the child, and then removes it.
    let store = Store(House(guest: Room(lamps: 1))) {
      (state: inout House, action: HouseAction) -> Effect<HouseAction> in
      switch action {
      case .guest(.light):
        state.guest?.lamps += 1
        return .send(.leave)
      case .guest:
        state.guest?.lamps = 50
        state.guest = nil
      case .leave: state.guest = nil
      case .arrive(let lamps): state.guest = Room(lamps: lamps)
      default: break
      }
      return .none
    }
    let guest: Store<Room, RoomAction>? = store.scope(ifPresent: \.guest) { .guest($0) }

    let receipt = guest?.send(.light) { $0.lamps }
    #expect(receipt?.value == 2 && receipt?.number == 2)
    #expect(guest?.isActive == false && guest?.state.lamps == 2)

    store.send(.arrive(lamps: 7))
    let next: Store<Room, RoomAction>? = store.scope(ifPresent: \.guest) { .guest($0) }
    store.send(.arrive(lamps: 8))
    let last = next?.send(.twice) { $0.lamps }
    #expect(last?.value == 8 && last?.number == 5)
    #expect(store.state.guest == nil)
  }

  @Test func `F26 a child that replaces a removed child is not read`() {
    let store = Store(House(guest: Room(lamps: 1))) {
      (state: inout House, action: HouseAction) -> Effect<HouseAction> in
      switch action {
      case .guest: return .merge(.send(.leave), .send(.arrive(lamps: 100)))
      case .leave: state.guest = nil
      case .arrive(let lamps): state.guest = Room(lamps: lamps)
      default: break
      }
      return .none
    }
    let guest: Store<Room, RoomAction>? = store.scope(ifPresent: \.guest) { .guest($0) }

    let receipt = guest?.send(.light) { $0.lamps }

    #expect(receipt?.value == 1 && receipt?.number == 3)
    #expect(store.state.guest?.lamps == 100)
  }

  @Test func `F26 on an inactive scope, nothing commits, and read gets the last-seen state`() {
    let store = Housekeeping().store(House(guest: Room(lamps: 4)))
    let guest: Store<Room, RoomAction>? = store.scope(ifPresent: \.guest) { .guest($0) }
    store.send(.leave)
    store.send(.arrive(lamps: 9))

    let receipt = guest?.send(.light) { $0.lamps }
    let task = guest?.send { $0.lamps == 4 ? .light : .twice }

    #expect(receipt?.value == 4)
    #expect(receipt?.number == nil && receipt?.task.isFinished == true)
    #expect(task?.number == nil && guest?.send(.light).number == nil)
    #expect(store.state.guest?.lamps == 9)
    #expect(store.send(.cancel("none")).number == 3)
  }

  @Test func `F26 a child state that read has seen is the last-seen state`() {
    let store = Housekeeping().store(House(guest: Room(lamps: 4)))
    let guest: Store<Room, RoomAction>? = store.scope(ifPresent: \.guest) { .guest($0) }

    #expect(guest?.send(.light) { $0.lamps }.value == 5)
    store.send(.leave)

    #expect(guest?.send(.light) { $0.lamps }.value == 5)
  }

  @Test func `F26 rows are scopes, also nested in a removable child`() {
    struct Shelf: Sendable { var todos: Rows<Todo> = [] }
    let store = Store(Shelf(todos: [Todo(1, "a"), Todo(2, "b")])) {
      (state: inout Shelf, action: Int) -> Effect<Int> in
      if action < 0 { state.todos.remove(id: -action) }
      state.todos[id: action]?.text += "!"
      return .none
    }
    let row: Store<Todo, Bool>? = store.scope(row: 1, in: \.todos) { id, keeps in
      keeps ? id : -id
    }

    #expect(row?.send(true) { $0.text }.value == "a!")
    #expect(row?.send(true) { $0.text }.value == "a!!")
    let last = row?.send(false) { $0.text }
    #expect(last?.value == "a!!" && last?.number == 3)
    #expect(row?.isActive == false)
  }

  @Test func `F26 contended reading sends of a scope read each value once`() {
    let count = scaled(3_000)
    let store = Housekeeping().store(House(guest: Room()))
    let guest: Store<Room, RoomAction>? = store.scope(ifPresent: \.guest) { .guest($0) }
    let seen = Shared<[Int]>([])

    onThreads(4) { _ in
      var own: [Int] = []
      for _ in 0..<count {
        if let value = guest?.send(.light, reading: { $0.lamps }).value { own.append(value) }
      }
      seen.change { $0 += own }
    }

    #expect(seen.value.sorted() == Array(1...4 * count))
  }
}
