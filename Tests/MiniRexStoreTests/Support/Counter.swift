import MiniRex
import MiniRexStore

/// A state with a part beside the one that tests change.
struct Counter: Sendable, Equatable {
  var count = 0
  var name = ""
}

enum CounterAction: Sendable, Equatable {
  case add(Int)
  case rename(String)
}

func addOrRename(_ state: inout Counter, _ action: CounterAction) -> Effect<CounterAction> {
  switch action {
  case .add(let amount): state.count += amount
  case .rename(let name): state.name = name
  }
  return .none
}

/// Makes a store whose reducer gets at it.
func storeWithin<State, Action>(
  _ state: State,
  _ reducer: @escaping @Sendable (Store<State, Action>, inout State, Action) -> Effect<Action>
) -> Store<State, Action> {
  let box = WeakBox<Store<State, Action>>()
  let store = Store(state) { (state: inout State, action: Action) in
    box.value.map { reducer($0, &state, action) } ?? .none
  }
  box.value = store
  return store
}

/// A reference that does not keep its object.
final class WeakBox<Object: AnyObject & Sendable>: Sendable {
  private struct Reference: Sendable {
    weak var object: Object?
  }

  private let lock = Lock(Reference())

  var value: Object? {
    get { lock.withLock { $0.object } }
    set { lock.withLock { $0.object = newValue } }
  }
}

/// Equal to another by its number; counts comparisons and does what it is told meanwhile.
final class Nosy: Equatable, Hashable, Sendable {
  let number: Int
  let onCompare: @Sendable () -> Void

  init(_ number: Int, onCompare: @escaping @Sendable () -> Void = {}) {
    self.number = number
    self.onCompare = onCompare
  }

  static func == (one: Nosy, other: Nosy) -> Bool {
    one.onCompare()
    return one.number == other.number
  }

  func hash(into hasher: inout Hasher) {
    onCompare()
    hasher.combine(number)
  }
}
