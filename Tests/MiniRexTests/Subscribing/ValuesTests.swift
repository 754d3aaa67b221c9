import MiniRex
import TestSupport
import Testing

/// Declares a `bufferingOldest` that the compiler picks only if the type has none.
private protocol WithoutOldest {}

private struct Missing {}

extension WithoutOldest {
  static func bufferingOldest(_ limit: Int) -> Missing { Missing() }
}

extension BufferingPolicy: WithoutOldest {}

/// A loop that the test resumes on its own thread.
private final class Loop<Update: Sendable>: Sendable {
  let executor = StepExecutor()
  let taken = Shared<[Update]>([])
  let hasEnded = Shared(false)
  let task: Task<Void, Never>

  init(_ values: PublisherValues<Update>) {
    task = Task(executorPreference: executor) { [taken, hasEnded] in
      for await update in values { taken.change { $0.append(update) } }
      hasEnded.value = true
    }
    executor.run()
  }

  deinit {
    task.cancel()
    executor.run()
  }

  func run() -> [Update] {
    executor.run()
    return taken.value
  }
}

@Suite(.light) struct ValuesTests {

  @Test func `R21 each call of values creates an independent subscription`() async {
    let source = BroadcastSource<Int>()
    let one = source.publisher.values(.unbounded)
    source.broadcast(1)
    let other = source.publisher.values(.unbounded)
    source.broadcast(2)
    #expect(source.subscriberCount == 2)
    source.end()

    #expect(await one.reduce(into: []) { $0.append($1) } == [1, 2])
    #expect(await other.reduce(into: []) { $0.append($1) } == [2])
  }

  @Test func `R21 bufferingOldest is available for broadcasters only`() {
    let ofValue: Any = BufferingPolicy<PublishedValueKind>.bufferingOldest(1)
    let ofTask: Any = BufferingPolicy<TaskKind>.bufferingOldest(1)
    let ofProgressiveTask: Any = BufferingPolicy<ProgressiveTaskKind>.bufferingOldest(1)
    let ofBroadcaster: Any = BufferingPolicy<BroadcasterKind>.bufferingOldest(1)

    #expect(ofValue is Missing)
    #expect(ofTask is Missing)
    #expect(ofProgressiveTask is Missing)
    #expect(!(ofBroadcaster is Missing))
  }

  @Test func `R16 R21 a loop over a published value starts and ends with the current value`() {
    let property = PublishedProperty(1)
    let loop = Loop(property.publisher.values(.bufferingNewest(1)))
    #expect(loop.run() == [1])

    property.value = 2
    for number in 3...9 { property.value = number }

    #expect(loop.run() == [1, 2, 9])
  }

  @Test func `R18 R21 a loop over a progressive task receives progress and the result`() {
    let source = ProgressiveTaskSource<Int, String, Never>()
    source.report(1)
    let loop = Loop(source.publisher.values(.unbounded))
    source.report(2)
    source.finish(.success("done"))

    let taken = loop.run()

    #expect(
      taken.map { update in
        switch update {
        case .progress(let number): "\(number)"
        case .finished(.success(let text)): text
        }
      } == ["1", "2", "done"])
    #expect(loop.hasEnded.value)
    #expect(Loop(source.publisher.values(.bufferingNewest(1))).run().count == 1)
  }

  @Test func `R21 a loop over a constant receives it and ends`() async {
    var taken: [Int] = []
    for await number in PublishedValue.constant(1).values(.bufferingNewest(1)) {
      taken.append(number)
    }
    #expect(taken == [1])
  }

  @Test func `R21 releasing the source ends a suspended loop`() {
    var source: BroadcastSource<Int>? = BroadcastSource()
    let values = source?.publisher.values(.unbounded)
    let loop = values.map { Loop($0) }
    #expect(loop?.hasEnded.value == false)

    source = nil

    #expect(loop?.run() == [])
    #expect(loop?.hasEnded.value == true)
  }

  @Test func `R21 releasing the sequence and its iterator cancels the subscription`() async {
    let source = BroadcastSource<Thing>()
    weak var waiting: Thing?
    do {
      var iterator = source.publisher.values(.unbounded).makeAsyncIterator()
      #expect(source.subscriberCount == 1)
      source.broadcast(Thing())
      source.broadcast(Thing())
      do {
        let thing = Thing()
        waiting = thing
        source.broadcast(thing)
      }
      #expect(waiting != nil)
      _ = await iterator.next()
    }

    #expect(source.subscriberCount == 0)
    #expect(waiting == nil)
  }

  @Test func `R21 an update is released once the loop has received it`() async {
    let source = BroadcastSource<Thing>()
    var iterator = source.publisher.values(.unbounded).makeAsyncIterator()
    weak var first: Thing?
    do {
      let thing = Thing()
      first = thing
      source.broadcast(thing)
    }
    source.broadcast(Thing())
    #expect(first != nil)

    _ = await iterator.next()

    #expect(first == nil)
    withExtendedLifetime(iterator) {}
  }

  @Test func `R21 a second loop continues where the first one stopped`() async {
    let source = BroadcastSource<Int>()
    let values = source.publisher.values(.unbounded)
    for number in 1...4 { source.broadcast(number) }
    for await number in values where number == 2 { break }
    #expect(values.bufferedCount == 2)
    source.broadcast(5)
    source.end()

    var iterator = values.makeAsyncIterator()
    let third = await iterator.next()
    var rest: [Int] = []
    for await number in values { rest.append(number) }

    #expect(third == 3)
    #expect(rest == [4, 5])
  }

  @Test func `R21 a canceled loop discards its buffer`() async {
    let source = BroadcastSource<Thing>()
    weak var last: Thing?
    let values = source.publisher.values(.unbounded)
    source.broadcast(Thing())
    source.broadcast(Thing())
    do {
      let thing = Thing()
      last = thing
      source.broadcast(thing)
    }

    let taken = await Task {
      var taken = 0
      for await _ in values {
        taken += 1
        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      }
      return taken
    }.value

    #expect(taken == 1)
    #expect(source.subscriberCount == 0)
    #expect(last == nil)
    #expect(values.bufferedCount == 0)
    #expect(values.droppedCount == 0)
    var iterator = values.makeAsyncIterator()
    #expect(await iterator.next() == nil)
  }

  @Test(arguments: [BufferingPolicy<BroadcasterKind>.unbounded, .bufferingNewest(9)])
  func `R21 invalidate after break cancels the subscription and discards the buffer`(
    policy: BufferingPolicy<BroadcasterKind>
  ) async {
    let source = BroadcastSource<Thing>()
    weak var last: Thing?
    let values = source.publisher.values(policy)
    for _ in 1...3 {
      let thing = Thing()
      last = thing
      source.broadcast(thing)
    }
    for await _ in values { break }
    #expect(source.subscriberCount == 1)
    #expect(values.bufferedCount == 2)

    values.invalidate()
    values.invalidate()
    source.broadcast(Thing())

    #expect(source.subscriberCount == 0)
    #expect(last == nil)
    #expect(values.bufferedCount == 0)
    #expect(values.droppedCount == 0)
    for await _ in values { Issue.record("An invalidated loop received an update.") }
  }

  @Test func `R21 invalidate in another Swift task ends a suspended loop`() async {
    let source = BroadcastSource<Int>()
    let values = source.publisher.values(.unbounded)
    let loop = Loop(values)
    source.broadcast(1)
    #expect(loop.run() == [1])

    await Task { values.invalidate() }.value
    source.broadcast(2)

    #expect(source.subscriberCount == 0)
    #expect(loop.run() == [1])
    #expect(loop.hasEnded.value)
  }

  @Test func `R21 a loop that invalidates its values receives nothing more`() async {
    let source = BroadcastSource<Int>()
    let values = source.publisher.values(.unbounded)
    for number in 1...3 { source.broadcast(number) }
    var taken: [Int] = []
    for await number in values {
      taken.append(number)
      values.invalidate()
    }
    #expect(taken == [1])
  }

  @Test func `R21 concurrent invalidation ends every loop`() async {
    for _ in 1...200 {
      let source = BroadcastSource<Int>()
      let values = source.publisher.values(.unbounded)
      await withDiscardingTaskGroup { group in
        group.addTask { for await _ in values {} }
        group.addTask { for number in 1...50 { source.broadcast(number) } }
        for _ in 1...2 { group.addTask { values.invalidate() } }
      }
      #expect(source.subscriberCount == 0)
      #expect(values.bufferedCount == 0)
    }
  }

  @Test(arguments: 0...3, 0...4)
  func `R21 a loop canceled at any point receives exactly the updates given to it`(
    sends: Int, firstSteps: Int
  ) {
    for policy in [BufferingPolicy.unbounded, .bufferingNewest(1), .bufferingOldest(1)] {
      for moreSteps in 0...4 {
        let source = BroadcastSource<Int>()
        let executor = StepExecutor()
        let values = source.publisher.values(policy)
        let taken = Shared(0)
        let task = Task(executorPreference: executor) {
          for await _ in values { taken.increment() }
          return true
        }
        for _ in 0..<firstSteps { executor.step() }
        for number in 0..<sends { source.broadcast(number) }
        for _ in 0..<moreSteps { executor.step() }
        let given = sends - values.bufferedCount - values.droppedCount

        task.cancel()
        source.broadcast(sends)
        executor.run()

        #expect(taken.value == given)
        #expect(values.bufferedCount == 0)
        #expect(source.subscriberCount == 0 || firstSteps + moreSteps == 0)
        withExtendedLifetime(task) {}
      }
    }
  }

  @Test func `R21 next stays on the caller's actor`() async {
    actor Reader {
      var sum = 0
      func read(_ values: PublisherValues<Int>) async {
        for await number in values {
          assertIsolated()
          sum += number
        }
      }
    }
    let source = BroadcastSource<Int>()
    let values = source.publisher.values(.unbounded)
    let reader = Reader()
    async let reading: Void = reader.read(values)
    for number in 1...10 {
      source.broadcast(number)
      await until { values.bufferedCount == 0 }
    }
    source.end()
    await reading

    #expect(await reader.sum == 55)
  }

  @Test func `R9 the release of a dropped update may call back into the source`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let source = BroadcastSource<Nosy>()
      let values = source.publisher.values(.bufferingNewest(1))
      let released = Shared(0)
      let callBack: @Sendable () -> Void = { [weak source] in
        released.increment()
        precondition(values.bufferedCount + values.droppedCount < 10)
        source?.publisher.subscribe { _ in }.invalidate()
      }
      for number in 0..<3 { source.broadcast(Nosy(number, onRelease: callBack)) }
      precondition(released.value == 2)
      let task = Task { for await _ in values {} }
      await until { values.bufferedCount == 0 }
      task.cancel()
      await task.finished()
      precondition(released.value == 3)
    }
  }

  @Test func `R23 two Swift tasks that iterate the same values trap with a remedy`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let source = BroadcastSource<Int>()
      let values = source.publisher.values(.unbounded)
      let loops = [Loop(values), Loop(values)]
      withExtendedLifetime((source, loops)) {}
    }
    #expect(result.map { advice($0).contains("Call 'values(…)' once per task") } == true)
  }
}
