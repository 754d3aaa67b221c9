import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct ResourceTests {
  typealias Numbers = Resource<Int, any Error>

  let clock = ManualClock()
  let backend = Backend()

  func makeResource(
    staleAfter: Duration? = .seconds(60), refreshEvery interval: Duration? = nil,
    retries: Int = 0, retryDelay: RetryDelay = .constant(.seconds(1))
  ) -> Numbers {
    Resource(
      staleAfter: staleAfter, refreshEvery: interval, retries: retries, retryDelay: retryDelay,
      clock: clock
    ) { [backend] in try await backend.load() }
  }

  /// A state without its age, as text.
  static func text(_ state: Numbers.State) -> String {
    let value = state.value.map { "\($0)" } ?? "-"
    let failure = (state.failure as? Backend.Failed).map { " failed \($0.number)" } ?? ""
    return value + failure + (state.isStale ? " stale" : "") + (state.isLoading ? " loading" : "")
  }

  func texts(_ recorder: Recorder<Numbers.State>) -> [String] {
    recorder.updates.map(Self.text)
  }

  @Test func `C1 a resource is lazy`() async throws {
    let resource = makeResource(refreshEvery: .seconds(10))

    #expect(resource.state == .init())
    #expect(resource.publisher.current() == .init())
    await clock.advance(by: .seconds(1_000))
    #expect(backend.count == 0)
    #expect(clock.sleeperCount == 0)

    backend.answer(1, 1)
    #expect(try await resource.value() == 1)
    #expect(backend.count == 1)
    #expect(clock.sleeperCount == 0)

    let subscription = resource.publisher.subscribe { _ in }
    #expect(clock.sleeperCount == 1)
    subscription.invalidate()
    #expect(clock.sleeperCount == 0)
    await clock.advance(by: .seconds(1_000))
    #expect(backend.count == 1)
  }

  @Test func `C2 one load runs at a time, and all callers share its result`() async throws {
    let resource = makeResource()
    async let values = withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<8 { group.addTask { try await resource.value() } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    let states = Recorder(resource.publisher)
    let task = Recorder(resource.task)
    await backend.requests(1)
    resource.refresh()
    backend.answer(1, 7)

    #expect(try await values == Array(repeating: 7, count: 8))
    #expect(try await task.next().first?.get() == 7)
    await until { states.updates.count >= 2 }
    #expect(texts(states) == ["- loading", "7"])
    #expect(backend.count == 1)
  }

  @Test func `C2 the load is canceled when no subscriber and no caller needs it`() async {
    let resource = makeResource()
    let first = Task { try await resource.value() }
    await backend.requests(1)
    let subscription = resource.publisher.subscribe { _ in }
    let task = resource.task.subscribe(success: { _ in }, failure: nil)

    first.cancel()
    #expect(await first.result.isCancellation)
    subscription.invalidate()
    #expect(backend.canceled == [])
    await task.invalidateAndWait()

    #expect(backend.canceled == [1])
    #expect(resource.state == .init())
  }

  @Test func `C2 a load that was requested continues without subscribers`() async throws {
    let resource = makeResource()
    resource.refresh()
    let subscription = resource.publisher.subscribe { _ in }
    subscription.invalidate()
    await backend.requests(1)
    backend.answer(1, 3)

    await until { resource.state.value == 3 }
    #expect(backend.canceled == [])
  }

  @Test func `C2 invalidateAndWait returns after the canceled load has returned`() async {
    let isDone = Shared(false)
    let resource = Resource<Int, any Error>(clock: clock) { [backend] in
      defer { isDone.value = true }
      return try await backend.loadStubbornly()
    }
    let subscription = resource.publisher.subscribe { _ in }
    await backend.requests(1)
    let waiting = Task { await subscription.invalidateAndWait() }
    await backend.cancellations(1)
    #expect(!isDone.value)
    backend.answer(1, 1)
    await waiting.finished()
    #expect(isDone.value)
  }

  @Test func `C2 a load that awaits its own value receives an error`() async throws {
    let own = Shared<Numbers?>(nil)
    let other = Resource<Int, any Error>(clock: clock) { try await own.value?.value() ?? 0 }
    let resource = Numbers(clock: clock) { [backend] in
      let number = try await backend.load()
      if number == 1 { return try await own.value?.value() ?? 0 }
      if number == 2 { return try await other.value() }
      own.value?.refresh()
      if number == 3 { own.value?.invalidate() }
      return number
    }
    own.value = resource
    defer { own.value = nil }
    backend.answer(1, 1)
    await #expect(throws: LoadCycleError.self) { try await resource.value() }
    backend.answer(2, 2)
    await #expect(throws: LoadCycleError.self) { try await resource.value() }
    backend.answer(3, 3)
    backend.answer(4, 4)
    #expect(try await resource.value() == 4)
    #expect(backend.count == 4)
  }

  @Test func `C2 an attempt that awaits its own value receives an error even after a retry`() async
  {
    let own = Shared<Numbers?>(nil)
    let attempts = Shared(0)
    let other = Resource<Int, any Error>(
      retries: 1, retryDelay: .constant(.seconds(1)), clock: clock
    ) {
      if attempts.increment() == 1 { throw Backend.Failed(1) }
      return try await own.value?.value() ?? 0
    }
    let resource = Numbers(clock: clock) { try await other.value() }
    own.value = resource
    defer { own.value = nil }
    let waiting = Task { try await resource.value() }
    await until { clock.sleeperCount == 1 }
    await clock.advance(by: .seconds(1))
    await until { attempts.value == 2 }
    await until { !resource.state.isLoading }

    await #expect(throws: LoadCycleError.self) { try await waiting.finished() }
  }

  @Test func `C2 callers that find the same stale value start one load`() async {
    let loads = Shared(0)
    let resource = Resource<Int, Never>(staleAfter: .seconds(1), clock: clock) { loads.increment() }
    resource.set(0)
    let count = scaled(200)
    for _ in 0..<count {
      await clock.advance(by: .seconds(1))
      onThreads(4) { _ in _ = resource.task.subscribe { _ in } }
      await until { !resource.state.isLoading }
    }

    #expect(loads.value == count)
  }

  @Test func `C3 a stale value is shown while it is refreshed`() async throws {
    let resource = makeResource()
    backend.answer(1, 1)
    #expect(try await resource.value() == 1)
    await clock.advance(by: .seconds(59))
    #expect(try await resource.value() == 1)
    #expect(backend.count == 1)

    await clock.advance(by: .seconds(1))
    #expect(Self.text(resource.state) == "1 stale")
    #expect(try await resource.value() == 1)
    await backend.requests(2)
    #expect(Self.text(resource.state) == "1 stale loading")
    #expect(try await resource.value() == 1)
    backend.answer(2, 2)
    await until { !resource.state.isLoading }

    #expect(Self.text(resource.state) == "2")
    #expect(backend.count == 2)
  }

  @Test func `C3 a caller that requires a fresh value waits for it`() async throws {
    let resource = makeResource()
    backend.answer(1, 1)
    _ = try await resource.value()
    await clock.advance(by: .seconds(10))

    #expect(try await resource.value(maxAge: .seconds(10)) == 1)
    async let value = resource.value(maxAge: .seconds(9))
    await backend.requests(2)
    backend.answer(2, 2)

    #expect(try await value == 2)
    async let newest = resource.value(maxAge: .zero)
    #expect(try await newest == 2)
    await clock.advance(by: .nanoseconds(1))
    backend.answer(3, 3)
    #expect(try await resource.value(maxAge: .zero) == 3)
  }

  @Test func `C3 a subscriber of a stale value loads again`() async throws {
    let resource = makeResource()
    backend.answer(1, 1)
    _ = try await resource.value()
    await clock.advance(by: .seconds(60))

    let states = Recorder(resource.publisher)
    backend.answer(2, 2)
    await until { states.updates.count >= 2 }

    #expect(texts(states) == ["1 stale loading", "2"])
  }

  @Test func `C4 a failed refresh keeps the value`() async throws {
    let resource = makeResource(retries: 2, retryDelay: .constant(.seconds(5)))
    backend.answer(1, 1)
    _ = try await resource.value()
    let states = Recorder(resource.publisher)
    resource.refresh()
    backend.fail(2)
    await until { states.updates.count == 3 }
    #expect(texts(states) == ["1", "1 loading", "1 failed 2 loading"])

    await clock.advance(by: .seconds(4))
    #expect(backend.count == 2)
    backend.fail(3)
    await clock.advance(by: .seconds(1))
    await until { states.updates.count == 4 }
    #expect(texts(states).last == "1 failed 3 loading")

    backend.answer(4, 4)
    await clock.advance(by: .seconds(5))
    await until { states.updates.count == 5 }
    #expect(texts(states).last == "4")
    #expect(backend.count == 4)
  }

  @Test func `C4 the last failure ends the load, and waiting callers receive it`() async throws {
    let resource = makeResource(retries: 1, retryDelay: .constant(.zero))
    let states = Recorder(resource.publisher)
    let caller = Task { try await resource.value() }
    await until { resource.waiterCount == 1 }
    backend.fail(1)
    backend.fail(2)

    await #expect(throws: Backend.Failed(2)) { try await caller.finished() }
    await until { states.updates.count == 3 }
    #expect(texts(states) == ["- loading", "- failed 1 loading", "- failed 2"])

    backend.answer(3, 3)
    #expect(try await resource.value() == 3)
    #expect(resource.state.failure == nil)
  }

  @Test func `C4 retryWhile decides, and refresh ends the delay`() async throws {
    let resource = Numbers(
      retries: 5, retryDelay: .constant(.seconds(100)),
      retryWhile: { ($0 as? Backend.Failed)?.number != 2 }, clock: clock
    ) { [backend] in try await backend.load() }
    let states = Recorder(resource.publisher)
    backend.fail(1)
    await until { states.updates.count == 2 }
    #expect(clock.sleeperCount == 1)
    resource.refresh()
    #expect(clock.sleeperCount == 0)
    backend.fail(2)
    await until { states.updates.count == 3 }

    #expect(texts(states).last == "- failed 2")
    #expect(clock.sleeperCount == 0)
  }

  @Test func `C5 an answer that is older than an invalidation is discarded`() async throws {
    let resource = Numbers(clock: clock) { [backend] in try await backend.loadStubbornly() }
    let states = Recorder(resource.publisher)
    async let value = resource.value()
    await backend.requests(1)
    await until { resource.waiterCount == 1 }
    resource.invalidate()
    await backend.requests(2)
    backend.answer(1, 1)
    backend.answer(2, 2)

    #expect(try await value == 2)
    await until { states.updates.last?.isLoading == false }
    #expect(texts(states) == ["- loading", "2"])
    #expect(backend.canceled == [1])
  }

  @Test func `C5 an answer that is older than a set is discarded`() async throws {
    let resource = Numbers(clock: clock) { [backend] in try await backend.loadStubbornly() }
    let states = Recorder(resource.publisher)
    async let value = resource.value()
    await backend.requests(1)
    await until { resource.waiterCount == 1 }
    resource.set(9)
    #expect(try await value == 9)
    backend.answer(1, 1)
    resource.refresh()
    backend.answer(2, 2)
    await until { states.updates.count == 4 }

    #expect(texts(states) == ["- loading", "9", "9 loading", "2"])
  }

  @Test func `C5 an invalidated value is loaded by the next reader`() async throws {
    let resource = makeResource()
    backend.answer(1, 1)
    _ = try await resource.value()
    resource.invalidate()
    #expect(resource.state == .init())
    #expect(backend.count == 1)

    backend.answer(2, 2)
    #expect(try await resource.value() == 2)
  }

  @Test func `C6 polling stops without subscribers`() async throws {
    let resource = makeResource(staleAfter: .seconds(60), refreshEvery: .seconds(30))
    for number in 1...9 { backend.answer(number, number) }
    let first = Recorder(resource.publisher)
    await until { resource.state.value == 1 }
    await clock.advance(by: .seconds(29))
    #expect(backend.count == 1)
    await clock.advance(by: .seconds(1))
    await until { resource.state.value == 2 }
    first.invalidate()
    await clock.advance(by: .seconds(59))
    #expect(backend.count == 2)

    // Fresh: the next multiple of the interval.
    let second = Recorder(resource.publisher)
    #expect(texts(second) == ["2"])
    await clock.advance(by: .seconds(1))
    await until { resource.state.value == 3 }
    second.invalidate()
    await clock.advance(by: .seconds(60))

    // Stale: immediately.
    let third = Recorder(resource.publisher)
    await until { texts(third).count > 1 }
    #expect(texts(third).prefix(2) == ["3 stale loading", "4"])
    #expect(backend.count == 4)
  }

  @Test func `C6 a subscriber at the instant of a poll starts it`() async {
    let resource = makeResource(refreshEvery: .seconds(30))
    backend.answer(1, 1)
    let first = Recorder(resource.publisher)
    await until { resource.state.value == 1 }
    first.invalidate()
    await clock.advance(by: .seconds(30))
    #expect(Self.text(resource.state) == "1")

    let second = Recorder(resource.publisher)
    #expect(Self.text(resource.state) == "1 loading")
    second.invalidate()
  }

  @Test func `C7 the state is one published value`() async throws {
    let resource = makeResource()
    let states = Recorder(resource.publisher)
    let pairs = Recorder(
      combineLatest(
        resource.publisher.map { $0.value }, resource.publisher.map { $0.isLoading }
      ).map { "\($0.0 ?? 0) \($0.1)" })
    backend.answer(1, 1)
    await until { states.updates.count == 2 && pairs.updates.count == 2 }
    resource.set(1)
    await clock.advance(by: .seconds(60))
    await clock.advance(by: .seconds(60))
    resource.set(1)
    resource.set(2)

    #expect(texts(states) == ["- loading", "1", "1 stale", "1", "2"])
    #expect(pairs.updates == ["0 true", "1 false", "2 false"])
    #expect(states.updates.last?.age == .zero)
    await clock.advance(by: .seconds(5))
    #expect(states.updates.last?.age == .seconds(5))
    #expect(resource.state.age == .seconds(5))
  }

  @Test func `C7 a subscriber receives that its load runs, even if the load ends first`() async {
    let resource = makeResource()
    backend.answer(1, 1)
    let watcher = resource.publisher.subscribe { state in
      guard state.isStale, state.isLoading else { return }
      for _ in 0..<10_000 where resource.state.value != 2 { usleep(1_000) }
    }
    await until { resource.state.value == 1 }
    await clock.advance(by: .seconds(60))
    #expect(Self.text(resource.state) == "1 stale")

    backend.answer(2, 2)
    let states = Recorder(resource.publisher)
    // On a busy machine, the load may end after the wait of the watcher.
    await until { states.updates.last?.value == 2 }
    #expect(texts(states) == ["1 stale loading", "2"])
    withExtendedLifetime(watcher) {}
  }

  @Test func `C7 a computed value that reads the state is a subscriber`() async throws {
    let resource = makeResource()
    let factor = PublishedProperty(10)
    let product = PublishedValue.computed { read in
      (read(resource.publisher).value ?? 0) * read(factor)
    }
    #expect(product.current() == 0)
    #expect(backend.count == 0)

    let products = Recorder(product)
    await backend.requests(1)
    backend.answer(1, 4)
    await until { products.updates.count == 2 }
    factor.value = 100
    #expect(products.updates == [0, 40, 400])
    #expect(resource.subscriberCount == 1)
    products.invalidate()
    #expect(resource.subscriberCount == 0)
  }

  @Test func `C7 the publisher follows the laws of a published value`() async throws {
    try await expectPublisherLaws {
      let resource = Shared<Resource<Int, Never>?>(Resource { 0 })
      resource.value?.set(0)
      let publisher = resource.value?.publisher.map { $0.value ?? 0 } ?? .constant(0)
      return PublisherUnderTest(
        publisher, send: { resource.value?.set($0) }, end: { resource.value = nil },
        subscriberCount: { resource.value?.subscriberCount ?? 0 })
    }
  }

  @Test func `C7 the task follows the laws of a task`() async throws {
    try await expectPublisherLaws {
      let backend = Backend()
      let resource = Numbers { try await backend.load() }
      return PublisherUnderTest(resource.task, finish: { resource.set($0) })
    }
  }

  @Test func `C9 a manual clock drives staleness, polls, retries, and eviction`() async throws {
    let resource = makeResource(
      staleAfter: .seconds(20), refreshEvery: .seconds(50), retries: 1,
      retryDelay: .constant(.seconds(5)))
    let states = Recorder(resource.publisher)
    backend.answer(1, 1)
    await until { states.updates.count == 2 }
    await clock.advance(by: .seconds(20))
    #expect(texts(states).last == "1 stale")
    backend.fail(2)
    await clock.advance(by: .seconds(30))
    await until { states.updates.count == 5 }
    #expect(texts(states).last == "1 failed 2 stale loading")
    backend.answer(3, 3)
    await clock.advance(by: .seconds(5))
    await until { states.updates.count == 6 }
    #expect(texts(states).last == "3")
    #expect(backend.count == 3)
    #expect(clock.sleeperCount == 1)
    states.invalidate()
    #expect(clock.sleeperCount == 0)
  }

  @Test func `C9 a value is stale although the clock moves before the timer is set`() {
    let clock = MovingClock()
    let resource = Numbers(staleAfter: .seconds(10), clock: clock) { [backend] in
      try await backend.load()
    }
    let states = Recorder(resource.publisher)
    clock.step.value = .seconds(10)
    resource.set(1)
    #expect(texts(states) == ["- loading", "1", "1 stale"])
    #expect(clock.manual.sleeperCount == 0)
  }

  @Test func `C9 a retry begins although the clock moves before the timer is set`() async throws {
    let clock = MovingClock()
    let resource = Numbers(retries: 1, retryDelay: .constant(.seconds(5)), clock: clock) {
      [backend] in try await backend.load()
    }
    clock.step.value = .seconds(5)
    backend.fail(1)
    backend.answer(2, 2)
    let states = Recorder(resource.publisher)
    await until { states.updates.count >= 2 }
    try #require(clock.manual.sleeperCount == 0)
    await until { states.updates.count == 3 }
    #expect(texts(states) == ["- loading", "- failed 1 loading", "2"])
  }

  @Test func `C10 reading a fresh value does not suspend`() async throws {
    let resource = makeResource()
    resource.set(5)

    let executor = StepExecutor()
    let task = Task(executorPreference: executor) { try await resource.value() }
    #expect(executor.step())
    #expect(!executor.step())
    #expect(try await task.finished() == 5)
  }
}

extension Result where Failure == any Error {
  fileprivate var isCancellation: Bool {
    if case .failure(is CancellationError) = self { true } else { false }
  }
}
