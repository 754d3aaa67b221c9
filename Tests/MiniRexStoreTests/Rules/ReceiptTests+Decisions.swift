import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

private struct Hall: Sendable, Equatable {
  var free: Set<Int> = Set(0..<100)
  var owners: [Int: Int] = [:]
}

private enum Booking: Sendable, Equatable { case reserved(Int, by: Int) }

private enum Refusal: Error, Equatable { case taken(by: Int?) }

private func hall() -> Store<Hall, Booking> {
  Store(Hall()) { (state: inout Hall, action: Booking) -> Effect<Booking> in
    guard case .reserved(let seat, let user) = action else { return .none }
    precondition(state.free.remove(seat) != nil, "A seat was sold twice.")
    state.owners[seat] = user
    return .none
  }
}

/// Decisions in the access of their action, rule F27.
extension ReceiptTests {
  @Test func `F27 a decision and its action are atomic`() {
    let store = hall()
    let answers = Shared<[Bool]>([])

    onThreads(4) { user in
      for seat in 0..<100 {
        do throws(Refusal) {
          try store.send { state throws(Refusal) in
            guard state.free.contains(seat) else { throw .taken(by: state.owners[seat]) }
            return .reserved(seat, by: user)
          }
          answers.append(true)
        } catch {
          answers.append(false)
        }
      }
    }

    #expect(answers.value.count { $0 } == 100)
    #expect(answers.value.count { !$0 } == 300)
    #expect(store.state.free.isEmpty)
  }

  @Test func `F27 no commit comes between a decision and its action`() {
    let (threads, count) = (4, scaled(12_000))
    let store = Store(0) { (state: inout Int, action: Int) -> Effect<Int> in
      state = action
      return .none
    }

    onThreads(threads) { _ in
      for _ in 0..<count { store.send { $0 + 1 } }
    }

    #expect(store.state == threads * count)
  }

  @Test func `F27 an error commits nothing and publishes nothing`() throws {
    let store = hall()
    let events = Recorder(store.events)
    let book: (Hall) throws(Refusal) -> Booking = { state throws(Refusal) in
      guard state.free.contains(1) else { throw .taken(by: state.owners[1]) }
      return .reserved(1, by: 7)
    }

    let task = try store.send(book)
    #expect(throws: Refusal.taken(by: 7)) { try store.send(book) }

    #expect(task.number == 1)
    #expect(events.updates.map(\.action) == [.reserved(1, by: 7)])
    #expect(store.send { _ in .reserved(2, by: 8) }.number == 2)
  }

  @Test func `F27 a scope decides by its child`() throws {
    let store = Housekeeping().store(House(guest: Room(lamps: 1)))
    let guest: Store<Room, RoomAction>? = store.scope(ifPresent: \.guest) { .guest($0) }
    let light: (Room) throws(Refusal) -> RoomAction = { room throws(Refusal) in
      if room.lamps > 1 { throw .taken(by: nil) }
      return .light
    }

    #expect(try guest?.send(light).number == 1)
    #expect(throws: Refusal.taken(by: nil)) { try guest?.send(light) }
    #expect(store.state.guest?.lamps == 2)
    #expect(store.send(.leave).number == 2)
  }

  @Test func `F27 a decision that cancels an effect commits after it`() async throws {
    let store = Store(0) { (state: inout Int, action: Int) -> Effect<Int> in
      state += action
      if action != 1 { return .none }
      return .publisher { Broadcaster { receive in Subscription { _ = receive } } }
    }
    let task = store.send(1)

    let cancels = store.send { _ in
      task.cancel()
      return 2
    }
    #expect(cancels.number == 2 && task.isFinished && store.effectCount == 0)

    let other = store.send(1)
    #expect(throws: Refusal.self) {
      try store.send { _ throws(Refusal) in
        other.cancel()
        throw .taken(by: nil)
      }
    }
    #expect(other.isFinished && store.effectCount == 0)
    let third = store.send(1)
    #expect(store.send(4) { _ in third.cancel() }.number == 5)
    #expect(third.isFinished && store.effectCount == 0)
    await #expect(throws: CancellationError.self) { try await other.finished() }
  }

  @Test func `F27 a decision without an error needs no try`() {
    let store = Store(Counter(), reducer: addOrRename)

    store.send { .add($0.count + 1) }
    store.send { .add($0.count + 1) }

    #expect(store.count == 3)
  }
}
