import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct OnChangeTests {
  @Test func `onChange reacts in the commit that changes the member`() {
    let reducer: Reducer<Counter, CounterAction> = onChange(of: \.count, in: addOrRename) {
      state, old in
      state.name += "\(old)→\(state.count) "
      return .none
    }
    let store = Store(Counter(), reducer: reducer)
    let events = Recorder(store.events)

    store.send(.add(2))
    store.send(.add(0))
    store.send(.rename("x "))
    store.send(.add(1))

    #expect(store.state == Counter(count: 3, name: "x 2→3 "))
    #expect(events.updates.map(\.action) == [.add(2), .add(0), .rename("x "), .add(1)])
    #expect(events.updates.first?.commit?.state.name == "0→2 ")
  }

  @Test func `onChange merges the effects of the reducer and the reaction`() {
    let base: Reducer<[Int], Int> = { state, action in
      state.append(action)
      return action == 1 ? .send(2) : .none
    }
    let store = Store(
      [Int](),
      reducer: onChange(of: \.count, in: base) { state, old in
        old == 0 ? .send(10) : .none
      })

    let task = store.send(1)

    #expect(store.state == [1, 2, 10])
    #expect(task.isFinished && task.number == 3)
  }

  @Test func `nested calls react to several members, inside first`() {
    let inner: Reducer<Counter, CounterAction> = onChange(of: \.count, in: addOrRename) {
      state, _ in
      state.name += "count "
      return .none
    }
    let store = Store(
      Counter(),
      reducer: onChange(of: \.name, in: inner) { state, old in
        state.count += 100
        return .none
      })

    store.send(.add(1))

    #expect(store.state == Counter(count: 101, name: "count "))
  }

  @Test func `onChange does not react to a member that stays NaN`() {
    struct Gauge: Sendable, Equatable {
      var levels = [Double.nan, 1]
      var limit: Double? = .nan
    }
    struct Panel: Sendable {
      var gauge = Gauge()
      var reactions = 0
    }
    let reducer: Reducer<Panel, Double> = onChange(
      of: \.gauge,
      in: { state, level in
        state.gauge.levels[1] = level
        state.gauge.limit = state.gauge.limit.map { _ in .nan }
        return .none
      }
    ) { state, _ in
      state.reactions += 1
      return .send(state.gauge.levels[1])
    }
    let store = Store(Panel(), reducer: reducer)

    store.send(1)
    #expect(store.state.reactions == 0)
    store.send(.nan)
    store.send(.nan)
    #expect(store.state.reactions == 1)
    store.send(2)
    #expect(store.state.reactions == 2)
  }
}
