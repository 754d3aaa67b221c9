import MiniRex
import MiniRexStore
import TestSupport
import Testing

private struct Meter: Sendable, Equatable {
  var count = 0

  mutating func bump(_ pause: @Sendable () async -> Void) async {
    count += 1
    await pause()
    count += 1
  }
}

private struct Plant: Sendable, Equatable {
  var hall = Hall()
  var counter = Meter()

  struct Hall: Sendable, Equatable {
    var meter = Meter()
  }
}

extension StoreContractTests {
  @Test
  func `S42 using a store during a suspended change of a member traps`()
    async
  {
    let inRoot = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      mustEnd()
      let store = Store<Plant, Never>(Plant())
      let steps = StepExecutor()
      Task(executorPreference: steps) {
        await store.hall.meter.bump { try? await Task.sleep(for: .seconds(3_600)) }
      }
      steps.run()
      _ = store.state
    }
    let inScope = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      mustEnd()
      let store = Store<Plant, Never>(Plant())
      let hall = store.scope(\.hall)
      let steps = StepExecutor()
      Task(executorPreference: steps) {
        await hall.meter.bump { try? await Task.sleep(for: .seconds(3_600)) }
      }
      steps.run()
      store.commit { $0.hall.meter.count = 7 }
    }

    for result in [inRoot, inScope] { #expect(advice(result).contains(expected)) }
  }

  @Test func `S42 an async change of a member that ends on another thread traps`() async {
    let inRoot = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      mustEnd()
      let store = Store<Plant, Never>(Plant())
      let steps = StepExecutor()
      Task(executorPreference: steps) { await store.hall.meter.bump { await Task.yield() } }
      steps.step()
      onThread { steps.run() }
    }
    let inScope = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      mustEnd()
      let store = Store<Plant, Never>(Plant())
      let hall = store.scope(\.hall)
      let steps = StepExecutor()
      Task(executorPreference: steps) { await hall.meter.bump { await Task.yield() } }
      steps.step()
      onThread { steps.run() }
    }

    for result in [inRoot, inScope] { #expect(advice(result).contains(expected)) }
  }

  @Test func `S3 an async change of a copy blocks no thread`()
    async
  {
    let store = Store<Plant, Never>(Plant())
    let pause: @Sendable () async -> Void = { onThread { store.counter.count = 10 } }
    var counter = store.counter
    await counter.bump(pause)
    store.counter = counter
    store.counter.count += 1

    #expect(store.state.counter.count == 3)
  }
}

private let expected = "A mutating async method of a Store's member, as in"
