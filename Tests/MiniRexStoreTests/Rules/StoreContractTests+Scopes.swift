import MiniRex
import MiniRexStore
import MiniRexTesting
import Observation
import TestSupport
import Testing

extension StoreContractTests {
  @Test func `S16 a scope stores no state and commits through its parent`() {
    let store = Housekeeping().store()
    let all = Recorder(store.events)
    let states = Recorder(store.publisher(of: \.hall.lamps))
    let hall: Store<Room, RoomAction> = store.scope(\.hall) { .hall($0) }
    let part = Recorder(hall.events)
    let lamps = Recorder(hall.publisher(of: \.lamps))

    hall.send(.light)
    store.send(.leave)
    store.send(.hall(.light))

    #expect(all.updates.map(\.action) == [.hall(.light), .leave, .hall(.light)])
    #expect(states.updates == [0, 1, 2])
    #expect(lamps.updates == [0, 1, 2])
    #expect(part.updates.compactMap { $0.commit?.number } == [1, 2, 3])
    #expect(part.updates.compactMap { $0.commit?.state.lamps } == [1, 1, 2])
    #expect(part.updates.allSatisfy { $0.action == nil && "\($0)".hasSuffix("parent") })
    #expect(hall.state == store.state.hall && hall.lamps == 2)
  }

  @Test func `S16 commits of a scope have the parent's numbers and full paths`() {
    let store = Store(House(guest: Room(box: Crate())))
    let events = Recorder(store.events.compactMap { $0.commit })
    let guest = store.scope(ifPresent: \.guest)
    let box = guest?.scope(ifPresent: \.box)

    store.hall.lamps = 1
    store.scope(\.hall).lamps += 1
    box?.count += 1
    let count = box?.commit("add") { state in
      state.count += 1
      return state.count
    }

    #expect(count == 2)
    #expect(events.updates.map(\.number) == [1, 2, 3, 4])
    #expect(events.updates.map(\.state.hall.lamps) == [1, 2, 2, 2])
    let paths = events.updates.map { commit -> AnyKeyPath? in
      if case .assignment(let path) = commit.cause { path } else { nil }
    }
    #expect(paths[1] == \House.hall.lamps)
    #expect(paths[2] == \House.guest!.box!.count)
    #expect("\(events.updates[3].cause)" == "add")
  }

  @Test
  func `S16 S34 diffs of a scope have the child's paths`() {
    struct Shelf: Codable, Sendable { var books = 0 }
    struct Library: Codable, Sendable {
      var shelf: Shelf? = Shelf()
      var visitors = 0
    }
    let store = Store(Library())
    let shelf = store.scope(ifPresent: \.shelf)
    let whole = Recorder(store.diffs.compactMap { try? $0.get() })
    let part = shelf.map { Recorder($0.diffs.compactMap { try? $0.get() }) }

    store.visitors += 1
    shelf?.books += 1
    store.shelf = nil

    #expect(
      whole.updates.map { $0.changes.keys.sorted() } == [
        ["visitors"], ["shelf/books"], ["shelf/books"],
      ])
    #expect(part?.updates.map(\.commit) == [2])
    #expect(part?.updates.first?["books"] != nil && part?.hasEnded == true)
  }

  @Test func `S16 a throwing commit of a scope keeps its changes`() {
    struct Stop: Error {}
    let store = Store(House(guest: Room()))
    let guest = store.scope(ifPresent: \.guest)

    #expect(throws: Stop.self) {
      try guest?.commit { state throws(Stop) in
        state.lamps = 5
        throw Stop()
      }
    }

    #expect(store.state.guest?.lamps == 5)
    #expect(guest?.state.lamps == 5)
  }

  @Test func `S3 S16 writing a member of a scope is atomic`() {
    let store = Store(House(guest: Room()))
    let guest = store.scope(ifPresent: \.guest)

    onThreads(8) { _ in
      for _ in 0..<scaled(1_000) {
        guest?.lamps += 1
        store.scope(\.hall).commit { $0.lamps += 1 }
      }
    }

    #expect(store.state.guest?.lamps == 8 * scaled(1_000))
    #expect(store.state.hall.lamps == 8 * scaled(1_000))
  }

  @Test func `S8 a commit of a read scope changes in place`() {
    let words = (0..<1_000).map { "\($0)" }
    let store = Store(House(hall: Room(words: words), guest: Room(words: words)))
    let (hall, guest) = (store.scope(\.hall), store.scope(ifPresent: \.guest))
    @Sendable func address(_ room: inout Room) -> UInt {
      room.words[0] = "changed"
      return unsafe room.words.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
    }

    for scope in [hall, guest] {
      let first = scope?.commit(nil, address)
      #expect(scope?.state.words.count == 1_000)
      #expect(scope?.commit(nil, address) == first)
    }
  }

  @Test func `S15 S16 a scope retains its store, but its publishers and subscriptions do not`() {
    var store: Store? = Store(House(guest: Room()))
    weak let weakly = store
    var box = store?.scope(ifPresent: \.guest)?.scope(\.lamps)
    let publisher = box?.publisher
    let recorder = publisher.map { Recorder($0) }

    store = nil
    #expect(weakly != nil)
    box?.commit { $0 = 3 }
    box = nil

    #expect(weakly == nil)
    #expect(recorder?.updates == [0, 3] && recorder?.hasEnded == true)
    #expect(publisher?.current() == 3)
  }

  @Test func `S17 a child has one scope object while that object is retained`() {
    let store = Housekeeping().store(House(guest: Room(box: Crate())))
    var hall: Store<Room, RoomAction>? = store.scope(\.hall) { .hall($0) }
    weak let weakly = hall
    var box = hall?.scope(ifPresent: \.box) { RoomAction.box($0) }
    let guest: Store<Room, RoomAction>? = store.scope(ifPresent: \.guest) { .guest($0) }

    store.send(.guest(.light))
    #expect(hall === store.scope(\.hall) { HouseAction.hall($0) })
    #expect(guest === store.scope(ifPresent: \.guest) { HouseAction.guest($0) })
    #expect(store.scope(\.hall) { (_: BoxAction) in HouseAction.leave }.state == hall?.state)
    box = guest?.scope(ifPresent: \.box) { .box($0) }
    #expect(box === guest?.scope(ifPresent: \.box) { RoomAction.box($0) })
    hall = nil

    #expect(weakly == nil)
    withExtendedLifetime((box, guest)) {}
  }

  @Test func `S17 concurrent lookups during a release share one scope object`() {
    let store = Store(House(guest: Room()))
    let isShared = Shared(true)

    onThreads(8) { thread in
      for _ in 0..<scaled(2_000) {
        let one = thread < 4 ? store.scope(\.hall) : store.scope(ifPresent: \.guest)
        let other = thread < 4 ? store.scope(\.hall) : store.scope(ifPresent: \.guest)
        if one == nil || one !== other { isShared.value = false }
      }
    }

    #expect(isShared.value)
    store.guest = nil
    #expect(store.hasForgottenScopes)
  }

  @Test func `S17 S19 a child removed and added again gets another scope`() {
    let store = Store(House())
    let confused = Shared(0)

    // Each guest has the number of its arrival, which does not change.
    onThreads(6) { thread in
      for round in 0..<scaled(1_000) {
        switch thread {
        case 0: store.guest = Room(lamps: round)
        case 1: store.guest = nil
        default:
          guard let guest = store.scope(ifPresent: \.guest) else { continue }
          let seen = Recorder(guest.publisher(of: \.lamps))
          let events = Recorder(guest.events)
          guest.words.append("seen")
          guest.commit { $0.words = [] }
          _ = guest.state
          // The first update can arrive asynchronously if another thread delivers.
          let updates = seen.updates
          if updates != updates.sorted() { confused.increment() }
          if !guest.isActive {
            // No update follows the end, and the next guest has another scope.
            if let next = store.scope(ifPresent: \.guest), next === guest { confused.increment() }
          }
          withExtendedLifetime(events) {}
        }
      }
    }
    store.guest = nil

    #expect(confused.value == 0)
    #expect(store.hasForgottenScopes)
  }

  @Test func `S19 removing a child ends its scope, subscriptions, and effects permanently`() {
    let store = Housekeeping().store()
    #expect(store.scope(ifPresent: \.guest) { HouseAction.guest($0) } == nil)
    store.send(.arrive(lamps: 1))
    let guest: Store<Room, RoomAction>? = store.scope(ifPresent: \.guest) { .guest($0) }
    let lamps = guest.map { Recorder($0.publisher(of: \.lamps)) }
    let events = guest.map { Recorder($0.events) }
    guest?.send(.light)
    #expect(guest?.isActive == true)

    store.send(.leave)
    #expect(guest?.isActive == false)
    store.send(.arrive(lamps: 10))
    guest?.send(.light)
    let late = guest.map { Recorder($0.publisher(of: \.lamps)) }
    let lateEvents = guest.map { Recorder($0.events) }

    #expect(guest?.isActive == false && guest?.state.lamps == 2 && guest?.lamps == 2)
    #expect(lamps?.updates == [1, 2] && lamps?.hasEnded == true)
    #expect(events?.updates.compactMap { $0.commit?.number } == [2])
    #expect(events?.hasEnded == true && lateEvents?.hasEnded == true)
    #expect(late?.updates == [2] && late?.hasEnded == true)
    #expect(store.state.guest?.lamps == 10 && store.state.visits == 4)
    let second: Store<Room, RoomAction>? = store.scope(ifPresent: \.guest) { .guest($0) }
    #expect(second !== guest && second?.state.lamps == 10)
  }

  @Test func `S19 a child present again when the reducer returns was not removed`() {
    let store = Housekeeping().store(House(guest: Room()))
    let guest: Store<Room, RoomAction>? = store.scope(ifPresent: \.guest) { .guest($0) }
    let lamps = guest.map { Recorder($0.publisher(of: \.lamps)) }

    store.send(.change)
    guest?.send(.light)

    #expect(guest?.isActive == true)
    #expect(lamps?.updates == [0, 100, 101])
  }

  @Test(arguments: ["member", "commit", "whole", "scope"])
  func `S19 a commit without a reducer removes a child`(_ way: String) {
    let store = Store(House(guest: Room(lamps: 1, box: Crate())))
    let guest = store.scope(ifPresent: \.guest)
    let box = guest?.scope(ifPresent: \.box)
    let count = box?.scope(\.count)
    let counts = count.map { Recorder($0.publisher) }
    box?.count = 7

    onThread {
      switch way {
      case "member": store.guest = nil
      case "commit": store.commit { $0.guest = nil }
      case "whole": store.commit { $0 = House() }
      default: guest?.commit { $0.box = nil }
      }
    }
    let commits = Recorder(store.events.compactMap { $0.commit })
    box?.count = 8
    let result = box?.commit { box in
      box.count += 1
      return box.count
    }

    #expect(guest?.isActive == (way == "scope"))
    #expect(box?.isActive == false && count?.isActive == false)
    #expect(counts?.updates == [0, 7] && counts?.hasEnded == true)
    #expect(box?.count == 7 && count?.state == 7 && result == 8)
    #expect(commits.updates.isEmpty)
    #expect(box?.scope(\.count).state == 7 && box?.scope(\.count).isActive == false)
  }

  @Test func `S19 a removed child's scope keeps the last state it received`() {
    let store = Store(House(guest: Room()))
    let guest = store.scope(ifPresent: \.guest)
    let isBehind = Shared(false)
    let token = guest?.publisher(of: \.lamps).subscribe { lamps in
      if let guest, guest.state.lamps < lamps { isBehind.value = true }
    }

    store.commit { $0.guest?.lamps = 5 }
    store.guest = nil

    #expect(guest?.state.lamps == 5)
    #expect(!isBehind.value)
    withExtendedLifetime(token) {}
  }

  @Test func `S4 S19 a queued action of a scope checks presence when it is reduced`() {
    let housekeeping = Housekeeping()
    let guest = Shared<Store<Room, RoomAction>?>(nil)
    let store = Store(House(guest: Room())) { (state: inout House, action: HouseAction) in
      if action == .leave { guest.value?.send(.light) }
      return housekeeping.house(&state, action)
    }
    guest.value = store.scope(ifPresent: \.guest) { .guest($0) }
    let actions = Recorder(store.events.compactMap { $0.action })

    guest.value?.send(.twice)
    store.send(.leave)

    #expect(actions.updates == [.guest(.twice), .guest(.light), .guest(.light), .leave])
    guest.value = nil
    #expect(store.hasForgottenScopes)
  }

  @Test func `S20 removing a child cancels its effects, including nested effects`() {
    let house = Housekeeping()
    let store = house.store(House(hall: Room(box: Crate()), guest: Room(box: Crate())))
    let ends = Recorder(store.events) { _ in }
    store.send(.guest(.follow("a")))
    store.send(.guest(.box(.follow("b"))))
    store.send(.hall(.box(.follow("c"))))
    let task = store.send(.guest(.follow("d")))
    store.send(.hall(.follow("e")))
    #expect(store.effectCount == 5)

    store.send(.leave)
    #expect(store.effectCount == 2)
    #expect(task.isFinished)
    store.send(.hall(.setBox(nil)))
    #expect(store.effectCount == 1)
    house.source.broadcast(1)

    #expect(store.state.hall.lamps == 1)
    let lines = ends.updates.map { "\($0)" }.filter { $0.contains("cancelled") }
    #expect(lines.map { String($0.split(separator: " ")[1]) } == ["a", "b", "d", "c"])
    let leave = ends.updates.firstIndex { $0.action == .leave }
    let first = ends.updates.firstIndex { "\($0)".contains("cancelled") }
    #expect(leave.map { $0 + 1 } == first)
    #expect(store.hasForgottenScopes)
  }

  @Test func `S20 removing an unused child removes the children in it`() {
    let house = Housekeeping()
    let store = house.store(House(guest: Room(box: Crate())))

    store.send(.guest(.box(.follow("a"))))
    store.send(.guest(.box(.follow("b"))))
    store.send(.leave)
    #expect(store.effectCount == 0 && store.hasForgottenScopes)
    store.send(.arrive(lamps: 1))
    store.send(.guest(.setBox(1)))
    store.send(.guest(.box(.follow("a"))))
    #expect(store.effectCount == 1 && !store.hasForgottenScopes)
    store.send(.guest(.setBox(nil)))

    #expect(store.effectCount == 0 && store.hasForgottenScopes)
  }

  @Test func `S20 an effect returned by the removing action never starts`() {
    let house = Housekeeping()
    let store = Store(House(guest: Room())) { (state: inout House, action: HouseAction) in
      let effect = house.house(&state, action)
      if case .guest = action { state.guest = nil }
      return effect
    }
    let events = Recorder(store.events)

    store.send(.guest(.follow("a")))
    store.send(.arrive(lamps: 0))
    store.send(.guest(.twice))

    #expect(events.updates.map(\.commit?.number) == [1, 2, 3])
    #expect(events.updates.last?.action == .guest(.twice))
    #expect(house.source.subscriberCount == 0)
    #expect(store.hasForgottenEffects && store.hasForgottenScopes)
  }

  @Test func `S20 effect ids are local to the child`() {
    let house = Housekeeping()
    let store = house.store(House(guest: Room(box: Crate())))
    store.send(.guest(.follow("load")))
    store.send(.guest(.box(.follow("load"))))
    store.send(.hall(.follow("load")))
    #expect(store.effectCount == 3)

    store.send(.cancel("load"))
    #expect(store.effectCount == 2)
    store.send(.guest(.cancel("load")))
    #expect(store.effectCount == 1)
    house.source.broadcast(0)

    #expect(store.state.guest?.box?.count == 1)
    #expect(store.state.guest?.lamps == 0 && store.state.hall.lamps == 0)
  }

  @Test func `S20 a child's reducer runs only while the child is present`() {
    let store = Housekeeping().store()
    let actions = Recorder(store.events.compactMap { $0.action })

    let task = store.send(.guest(.follow("a")))
    store.send(.guest(.light))
    store.send(.arrive(lamps: 0))
    store.scope(ifPresent: \.guest) { HouseAction.guest($0) }?.send(.twice)

    #expect(task.isFinished && store.effectCount == 0)
    #expect(
      actions.updates == [
        .guest(.follow("a")), .guest(.light), .arrive(lamps: 0), .guest(.twice), .guest(.light),
        .guest(.light),
      ])
    #expect(store.state == House(guest: Room(lamps: 2), visits: 6))
  }

  @Test func `S20 S42 map on an effect of a removable child traps with advice`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let house = Housekeeping()
      let store = Store(House(hall: Room(box: Crate()))) {
        (state: inout House, action: HouseAction) in
        guard case .hall(let action) = action else { return .none }
        return house.room(&state.hall, action).map { .hall($0) }
      }
      store.send(.hall(.box(.follow("a"))))
    }

    #expect(
      advice(result).contains("Use '.reduce(&state, \\.child, action, by: child) { .child($0) }'"))
  }

  @Test func `S14 a removable child and its members are observed`() {
    let store = Store(House())
    let heard = Shared<[String]>([])
    func look() {
      withObservationTracking {
        if let guest = store.scope(ifPresent: \.guest) { _ = guest.lamps }
      } onChange: {
        heard.append("\(store.state.guest?.lamps ?? -1)")
      }
    }

    look()
    store.hall.lamps += 1
    store.guest = Room()
    look()
    store.commit { $0.guest?.words = ["no"] }
    store.commit { $0.guest?.lamps = 3 }
    look()
    store.guest = nil

    #expect(heard.value == ["0", "3", "-1"])
    #expect(store.subscriberCount == 0)
    #expect(store.hasForgottenScopes)
  }

  @Test func `S14 scopes created repeatedly observe a member once`() {
    let store = Store(House(guest: Room()))

    for _ in 0..<100 {
      _ = store.scope(\.hall).lamps
      _ = store.scope(ifPresent: \.guest)?.lamps
    }

    #expect(store.subscriberCount == 3)
  }
}
