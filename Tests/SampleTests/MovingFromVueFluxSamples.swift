import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

/// The code of MovingFromVueFlux.md.
@Suite(.light) struct MovingFromVueFluxSamples {
  struct CounterState: Sendable, Equatable {
    fileprivate var count = 0
  }

  enum CounterAction: Sendable { case increment, decrement }

  static let counter: Reducer<CounterState, CounterAction> = { state, action in
    switch action {
    case .increment: state.count += 1
    case .decrement: state.count -= 1
    }
    return .none
  }

  static let shared = Store(CounterState(), reducer: counter)

  @MainActor final class Label { var text = "" }

  @MainActor
  @Test func `a label shows the count`() {
    let label = Label()
    let bag = SubscriptionBag()
    let store = Store(CounterState(), reducer: Self.counter)
    store.countText.bindOnMain(to: label, \.text).store(in: bag)

    store.increment()

    #expect(store.countText.current() == "1")
    bag.invalidate()
  }

  @Test func `an action reaches every store`() {
    let everywhere = BroadcastSource<CounterAction>()
    let bag = SubscriptionBag()
    let stores = (0..<2).map { _ in Store(CounterState(), reducer: Self.counter) }
    for store in stores {
      everywhere.publisher.subscribe(weakly: store) { $0.send($1) }.store(in: bag)
    }

    everywhere.broadcast(.increment)
    Self.shared.increment()

    #expect(stores.map(\.state.count) == [1, 1])
    #expect(Self.shared.state.count == 1)
  }
}

extension Store
where
  State == MovingFromVueFluxSamples.CounterState, Action == MovingFromVueFluxSamples.CounterAction
{
  func increment() { send(.increment) }
  var countText: PublishedValue<String> { publisher(of: { String($0.count) }) }
}
