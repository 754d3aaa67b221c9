import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct DeliveredTests {
  private let executor = StepExecutor()

  /// Delivers one update on another thread until `mayContinue` opens, and runs the body concurrently.
  private func whileDelivering<Kind>(
    _ publisher: Publisher<Int, Kind>, send: @escaping @Sendable (Int) -> Void,
    body: @escaping @Sendable (_ goOn: Gate) -> Void
  ) -> [Int] {
    let isDelivering = Gate()
    let mayContinue = Gate()
    let seen = Shared<[Int]>([])
    let subscription = publisher.broadcaster.subscribe { number in
      if number == 1 {
        isDelivering.open()
        mayContinue.wait()
      }
      seen.change { $0.append(number) }
    }
    onThreads(2) { thread in
      if thread == 0 { return send(1) }
      isDelivering.wait()
      body(mayContinue)
    }
    withExtendedLifetime(subscription) {}
    return seen.value
  }

  @Test(arguments: 0..<4)
  func `R31 delivered returns once every accepted update is delivered`(kind: Int) {
    let broadcast = BroadcastSource<Int>()
    let property = PublishedProperty(0)
    let task = TaskSource<Int, Never>()
    let progressive = ProgressiveTaskSource<Int, Int, Never>()
    let isFinished = Shared(false)
    @Sendable func check(_ delivered: @escaping @Sendable () async -> Void, _ goOn: Gate) {
      _ = Task(executorPreference: executor) {
        await delivered()
        isFinished.value = true
      }
      executor.run()
      #expect(!isFinished.value)
      goOn.open()
    }
    switch kind {
    case 0:
      let seen = whileDelivering(broadcast.publisher) {
        broadcast.broadcast($0)
      } body: {
        broadcast.broadcast(2)
        check({ await broadcast.delivered() }, $0)
      }
      #expect(seen == [1, 2])
    case 1:
      let seen = whileDelivering(property.publisher) {
        property.value = $0
      } body: {
        property.value = 2
        check({ await property.delivered() }, $0)
      }
      #expect(seen == [0, 1, 2])
    case 2:
      _ = whileDelivering(task.publisher.broadcaster.map { $0.get() }) {
        task.finish(.success($0))
      } body: {
        check({ await task.delivered() }, $0)
      }
    default:
      _ = whileDelivering(progressive.publisher.broadcaster.map { _ in 1 }) {
        progressive.report($0)
      } body: {
        check({ await progressive.delivered() }, $0)
      }
    }
    executor.run()
    #expect(isFinished.value)
  }

  @Test func `R31 delivered does not wait for later sends`() {
    let source = BroadcastSource<Int>()
    let isFinished = Shared(false)
    let subscription = source.publisher.subscribe { [executor] number in
      executor.run()
      if !isFinished.value, number < 10 { source.broadcast(number + 1) }
    }
    _ = Task(executorPreference: executor) {
      await source.delivered()
      isFinished.value = true
    }
    source.broadcast(1)

    executor.run()
    #expect(isFinished.value)
    withExtendedLifetime(subscription) {}
  }

  @Test func `R31 delivered does not suspend without queued updates`() {
    let source = BroadcastSource<Int>()
    source.broadcast(1)
    let isFinished = Shared(false)
    _ = Task(executorPreference: executor) {
      await source.delivered()
      await PublishedProperty(1).delivered()
      isFinished.value = true
    }

    executor.step()

    #expect(isFinished.value)
  }

  @Test(arguments: [false, true])
  func `R31 delivered returns immediately in a canceled task`(isCancelledBefore: Bool) {
    let source = BroadcastSource<Int>()
    let isFinished = Shared(false)
    _ = whileDelivering(source.publisher) {
      source.broadcast($0)
    } body: { [executor] goOn in
      let waiting = Task(executorPreference: executor) {
        await source.delivered()
        isFinished.value = true
      }
      if !isCancelledBefore { executor.run() }
      waiting.cancel()
      executor.run()
      #expect(isFinished.value)
      goOn.open()
    }
  }

  @Test func `R31 after delivered, the sender's updates have arrived, on any thread`() async {
    let source = BroadcastSource<Int>()
    let latest = Shared([0, 0, 0, 0])
    let subscription = source.publisher.subscribe { number in
      latest.change { $0[number % 4] = number / 4 }
    }
    await withTaskGroup { group in
      for sender in 0..<4 {
        group.addTask {
          for number in 1...scaled(2_000) {
            source.broadcast(4 * number + sender)
            await source.delivered()
            if latest.value[sender] < number { Issue.record("\(number) has not arrived") }
          }
        }
      }
    }
    withExtendedLifetime(subscription) {}
  }
}
