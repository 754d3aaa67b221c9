import MiniRex
import MiniRexStore
import TestSupport

/// A state whose actions carry their reducers, with removable children in removable children.
struct Yard: Sendable {
  var words: [String] = []
  var guest: Guest?
  var guests: Rows<Guest> = []
}

struct Guest: Sendable, Identifiable {
  var id = 1
  var words: [String] = []
  var bag: Bag?
  var bags: Rows<Bag> = []
}

struct Bag: Sendable, Identifiable {
  var id = 1
  var words: [String] = []
}

enum YardAction: Sendable {
  case run(@Sendable (inout Yard) -> Effect<YardAction>)
  case guest(GuestAction)
  case guests(Int, GuestAction)
  /// Puts the effects of an action behind an effect of the yard.
  indirect case behind(BroadcastSource<Int>, YardAction)
}

enum GuestAction: Sendable {
  case run(@Sendable (inout Guest) -> Effect<GuestAction>)
  case bag(BagAction)
  case bags(Int, BagAction)
}

struct BagAction: Sendable {
  let run: @Sendable (inout Bag) -> Effect<BagAction>
}

func yardStore(_ state: Yard = Yard()) -> Store<Yard, YardAction> {
  Store(state, reducer: reduceYard)
}

private func reduceYard(_ state: inout Yard, _ action: YardAction) -> Effect<YardAction> {
  switch action {
  case .run(let body): body(&state)
  case .guest(let action):
    .reduce(&state, ifPresent: \.guest, action, by: reduceGuest) { .guest($0) }
  case .guests(let id, let action):
    .reduce(&state, row: id, in: \.guests, action, by: reduceGuest) { .guests($0, $1) }
  case .behind(let gate, let action): .concatenate(waiting(gate), reduceYard(&state, action))
  }
}

private func reduceGuest(_ state: inout Guest, _ action: GuestAction) -> Effect<GuestAction> {
  switch action {
  case .run(let body): body(&state)
  case .bag(let action): .reduce(&state, ifPresent: \.bag, action, by: reduceBag) { .bag($0) }
  case .bags(let id, let action):
    .reduce(&state, row: id, in: \.bags, action, by: reduceBag) { .bags($0, $1) }
  }
}

private func reduceBag(_ state: inout Bag, _ action: BagAction) -> Effect<BagAction> {
  action.run(&state)
}

/// The children of a yard, to which a test applies the same actions.
enum YardChild: CaseIterable, Sendable {
  case guest, row, bag, bagOfRow, bagsOfRow

  /// Adds the child, or a successor of a removed child.
  func add(to state: inout Yard) {
    switch self {
    case .guest: state.guest = Guest()
    case .row: state.guests[id: 1] = Guest()
    case .bag: state.guest = Guest(bag: Bag())
    case .bagOfRow: state.guests[id: 1] = Guest(bag: Bag())
    case .bagsOfRow: state.guests[id: 1] = Guest(bags: [Bag()])
    }
  }

  /// Removes the child or, for the last kinds, the child around it.
  func remove(from state: inout Yard) {
    switch self {
    case .guest: state.guest = nil
    case .row: state.guests[id: 1] = nil
    case .bag: state.guest?.bag = nil
    case .bagOfRow: state.guests[id: 1]?.bag = nil
    case .bagsOfRow: state.guests[id: 1] = nil
    }
  }

  func words(in state: Yard) -> [String]? {
    switch self {
    case .guest: state.guest?.words
    case .row: state.guests[id: 1]?.words
    case .bag: state.guest?.bag?.words
    case .bagOfRow: state.guests[id: 1]?.bag?.words
    case .bagsOfRow: state.guests[id: 1]?.bags[id: 1]?.words
    }
  }

  /// An action of the child, whose reducer returns an effect.
  func action(_ effect: WaitingEffect) -> YardAction {
    let ofGuest = GuestAction.run { _ in
      effect.made { word in
        .run { state in
          state.words.append(word)
          return .none
        }
      }
    }
    let ofBag = BagAction { _ in
      effect.made { word in
        BagAction { state in
          state.words.append(word)
          return .none
        }
      }
    }
    return switch self {
    case .guest: .guest(ofGuest)
    case .row: .guests(1, ofGuest)
    case .bag: .guest(.bag(ofBag))
    case .bagOfRow: .guests(1, .bag(ofBag))
    case .bagsOfRow: .guests(1, .bags(1, ofBag))
    }
  }
}

/// An effect behind a gate, in every form.
struct WaitingEffect: Sendable {
  enum Work: CaseIterable, Sendable { case send, run, publisher }
  enum Form: CaseIterable, Sendable { case plain, merged, sequence, mapped, named, nested }

  let gate = BroadcastSource<Int>()
  let started = Shared(0)
  let work: Work
  var form = Form.plain
  var id = "id"
  var cancelInFlight = false
  /// A Boolean value that indicates whether the gate is an effect of the same child.
  var isGated = true

  func made<Action: Sendable>(
    _ action: @escaping @Sendable (String) -> Action
  ) -> Effect<Action> {
    let effect = formed(named(action))
    return isGated ? .concatenate(waiting(gate), effect) : effect
  }

  private func named<Action: Sendable>(
    _ action: @escaping @Sendable (String) -> Action
  ) -> Effect<Action> {
    working(action).cancellable(id: id, cancelInFlight: cancelInFlight)
  }

  private func working<Action: Sendable>(
    _ action: @escaping @Sendable (String) -> Action
  ) -> Effect<Action> {
    switch work {
    case .send: .send(action("sent"))
    case .run:
      .run { [started] send in
        started.increment()
        send(action("sent"))
      }
    case .publisher:
      .publisher { [started] in
        started.increment()
        return PublishedValue.constant(action("sent"))
      }
    }
  }

  private func formed<Action: Sendable>(_ effect: Effect<Action>) -> Effect<Action> {
    switch form {
    case .plain: effect
    case .merged: .merge(.none, effect)
    case .sequence: .concatenate(.none, .concatenate(.none, effect))
    case .mapped: effect.map { $0 }
    case .named: Effect.concatenate(.none, effect).cancellable(id: "outer")
    case .nested: .merge(.concatenate(.merge(effect).cancellable(id: "outer"), .none).map { $0 })
    }
  }
}

/// An effect that ends with the source, and sends nothing.
func waiting<Action: Sendable>(_ gate: BroadcastSource<Int>) -> Effect<Action> {
  .publisher { gate.publisher.compactMap { _ -> Action? in nil } }
}
