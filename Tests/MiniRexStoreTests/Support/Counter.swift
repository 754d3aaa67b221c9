import MiniRex
import MiniRexStore

/// A state with a member beside the member that tests change.
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

/// Creates a store whose reducer can access it.
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

/// A weak reference.
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

/// Equal by number.
///
/// Counts comparisons and runs a closure during each.
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
