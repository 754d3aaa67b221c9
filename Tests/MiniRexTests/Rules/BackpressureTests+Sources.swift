import MiniRex
import TestSupport
import Testing

extension BackpressureTests {
  @Test(arguments: ["work", "shared", "run", "flatMap", "merge", "receive"])
  func `F16 work that sends is suspended from its first update`(_ way: String) async {
    let sent = Shared(0)
    let work = Broadcaster<Int> { send in
      for number in 0..<20 {
        try await send(number)
        sent.increment()
      }
    }
    let numbers: Broadcaster<Int> =
      switch way {
      case "shared": work.map { $0 }.share()
      case "run": work.map { $0 }.inOneRun()
      case "flatMap": Broadcaster.sequence([0]).flatMap(limit: 1) { _ in work }
      case "merge": merge(work, Broadcaster<Int>.sequence([]))
      default: work
      }
    let values = numbers.values(.suspending(2))
    await until { sent.value >= 2 }
    try? await Task.sleep(for: .milliseconds(3))
    #expect(sent.value == 2)
    #expect(values.bufferedCount == 2)
    #expect(await values.take(1) == [0])
    await until { sent.value >= 3 }
    try? await Task.sleep(for: .milliseconds(3))
    #expect(sent.value == 3)
    #expect(await values.takeAll() == Array(1..<20))
    #expect(sent.value == 20)
  }

  @Test func `F16 work starts with its subscriber and is canceled with it`() async {
    let (began, ended, sent) = (Shared(0), Shared(0), Shared(0))
    let work = Broadcaster<Int> { send in
      began.increment()
      defer { ended.increment() }
      for number in 0..<1_000_000 {
        try await send(number)
        sent.increment()
      }
    }
    #expect(began.value == 0)
    let values = work.values(.suspending(3))
    let other = work.values(.suspending(1))
    await until { sent.value == 4 }
    #expect(began.value == 2)
    values.invalidate()
    await until { ended.value == 1 }
    #expect(ended.value == 1)
    #expect(await other.take(2) == [0, 1])
    other.invalidate()
    await until { ended.value == 2 }
    let waited = work.subscribe { _ in }
    await waited.invalidateAndWait()
    #expect(ended.value == 3)
  }

  @Test func `F16 work that returns or throws finishes the broadcaster`() async {
    struct Failure: Error {}
    let hasReturned = Shared(false)
    let escaped = Shared<(@Sendable (Int) async throws(CancellationError) -> Void)?>(nil)
    let values = Broadcaster<Int> { send in
      try await send(1)
      escaped.value = send
      hasReturned.value = true
    }.values(.unbounded)
    #expect(await values.takeAll() == [1])
    await until { hasReturned.value }
    await #expect(throws: CancellationError.self) { try await escaped.value?(2) }
    let failing = Broadcaster<Int> { send in
      try await send(2)
      throw Failure()
    }.values(.suspending(1))
    #expect(await failing.takeAll() == [2])
  }

  @Test func `F16 the compiler picks the initializer by the closure's try await`() async {
    let source = BroadcastSource<Int>()
    let sending = Broadcaster<Int> { send in try await send(1) }
    let sendingInSteps = Broadcaster<Int> { send in
      let number = 2
      try await send(number)
    }
    let receiving = Broadcaster<Int> { receive in source.publisher.subscribe(receive) }
    let receivingInSteps = Broadcaster<Int> { receive in
      receive(4)
      return Subscription {}
    }
    #expect(await sending.values(.unbounded).take(1) == [1])
    #expect(await sendingInSteps.values(.unbounded).take(1) == [2])
    let values = receiving.values(.unbounded)
    source.broadcast(3)
    #expect(await values.take(1) == [3])
    #expect(await receivingInSteps.values(.unbounded).take(1) == [4])
  }

  @Test func `F17 a sequence is iterated no faster than its subscriber reads`() async {
    let taken = Shared(0)
    let sequence = AsyncStream<Int> {
      let number = taken.increment()
      return number <= 20 ? number : nil
    }
    let values = Broadcaster(sequence).values(.suspending(4))
    await until { taken.value >= 5 }
    try? await Task.sleep(for: .milliseconds(3))
    #expect(taken.value == 5)
    #expect(await values.take(2) == [1, 2])
    await until { taken.value >= 7 }
    try? await Task.sleep(for: .milliseconds(3))
    #expect(taken.value == 7)
    #expect(await values.takeAll() == Array(3...20))
  }
}
