import MiniRex
import MiniRexStore

/// A state with a permanent child, and a removable child that contains another removable child.
struct House: Sendable, Equatable {
  var hall = Room()
  var guest: Room?
  var visits = 0
}

struct Room: Sendable, Equatable {
  var lamps = 0
  var words: [String] = []
  var box: Crate?
}

struct Crate: Sendable, Equatable {
  var count = 0
}

enum HouseAction: Sendable, Equatable {
  case hall(RoomAction)
  case guest(RoomAction)
  case arrive(lamps: Int)
  case leave
  /// Removes and adds the guest within one reducer.
  case change
  case cancel(String)
}

enum RoomAction: Sendable, Equatable {
  case light
  case box(BoxAction)
  case setBox(Int?)
  /// Subscribes to `source` under the id.
  case follow(String)
  case cancel(String)
  case twice
}

enum BoxAction: Sendable, Equatable {
  case add
  case follow(String)
}

/// Reduces a house whose rooms and crates return effects that subscribe to a source.
struct Housekeeping: Sendable {
  let source = BroadcastSource<Int>()

  func box(_ state: inout Crate, _ action: BoxAction) -> Effect<BoxAction> {
    switch action {
    case .add: state.count += 1
    case .follow(let id):
      return .publisher { [source] in source.publisher.map { _ in .add } }.cancellable(id: id)
    }
    return .none
  }

  func room(_ state: inout Room, _ action: RoomAction) -> Effect<RoomAction> {
    switch action {
    case .light: state.lamps += 1
    case .box(let action):
      return .reduce(&state, ifPresent: \.box, action, by: box) { .box($0) }
    case .setBox(let count): state.box = count.map { Crate(count: $0) }
    case .follow(let id):
      return .publisher { [source] in source.publisher.map { _ in .light } }.cancellable(id: id)
    case .cancel(let id): return .cancel(id: id)
    case .twice: return .concatenate(.send(.light), .send(.light))
    }
    return .none
  }

  func house(_ state: inout House, _ action: HouseAction) -> Effect<HouseAction> {
    state.visits += 1
    switch action {
    case .hall(let action):
      return .reduce(&state, \.hall, action, by: room) { .hall($0) }
    case .guest(let action):
      return .reduce(&state, ifPresent: \.guest, action, by: room) { .guest($0) }
    case .arrive(let lamps): state.guest = Room(lamps: lamps)
    case .leave: state.guest = nil
    case .change:
      state.guest = nil
      state.guest = Room(lamps: 100)
    case .cancel(let id): return .cancel(id: id)
    }
    return .none
  }

  func store(_ state: House = House()) -> Store<House, HouseAction> {
    Store(state, reducer: house)
  }
}
