import MiniRex
import MiniRexStore
import MiniRexTesting
import TestSupport
import Testing

extension PerformTests {
  @Test func `W8 a date that jumps back delays a job that waits for a run`() async {
    let time = TestTime()
    let store = Store(Shop(), reducer: selling)
    let bench = Bench()
    let working = store.charge(bench, atMost: 1, at: time)
    store.send(.ordered(Charge(id: 1)))
    store.send(.ordered(Charge(id: 2), notBefore: time.after(.seconds(10))))
    time.advance(by: .seconds(10))
    store.send(.ordered(Charge(id: 3), notBefore: time.after(.seconds(60))))

    time.jump.value = .seconds(-10)
    await bench.finish(1)
    await until { !store.hasRunningJobs || bench.starts.count == 2 }
    #expect(bench.starts == ["1.1"])
    time.advance(by: .seconds(10))

    await bench.finish(2)
    await until { store.state.receipts == [1, 2] }
    withExtendedLifetime(working) {}
  }
}
