import TestSupport
import Testing

@testable import MiniRex

/// A task that sends numbers in order, and counts the sends that returned.
final class Sender: Sendable {
  let sent = Shared(0)
  let hasThrown = Shared(false)
  private let task = Shared<Task<Void, Never>?>(nil)

  init(_ numbers: Range<Int>, to source: BroadcastSource<Int>) {
    task.value = Task { [sent, hasThrown] in
      do {
        for number in numbers {
          try await source.send(number)
          sent.change { $0 += 1 }
        }
      } catch { hasThrown.value = true }
    }
  }

  deinit { cancel() }

  func cancel() { task.value?.cancel() }

  func finish() async { await task.value?.finished() }

  /// Returns when the given number of sends has returned, and checks that no other does.
  func isSuspended(
    after count: Int, sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    await until(sent.value, sourceLocation: sourceLocation) { $0 >= count }
    try? await Task.sleep(for: .milliseconds(3))
    #expect(sent.value == count, sourceLocation: sourceLocation)
  }
}

/// An update whose objects are counted.
final class Piece: Sendable {
  let number: Int
  private let existing: Shared<Int>

  init(_ number: Int, _ existing: Shared<Int>) {
    self.number = number
    self.existing = existing
    existing.change { $0 += 1 }
  }

  deinit { existing.change { $0 -= 1 } }
}

extension PublisherValues {
  /// Takes the next updates.
  func take(_ count: Int) async -> [Update] {
    var iterator = makeAsyncIterator()
    var updates: [Update] = []
    for _ in 0..<count {
      if let update = await iterator.next() { updates.append(update) }
    }
    return updates
  }

  func takeAll() async -> [Update] { await reduce(into: []) { $0.append($1) } }
}

@Suite(.light) struct BackpressureTests {

  @Test func `F1 send suspends at the limit and resumes at half of it`() async {
    let source = BroadcastSource<Int>()
    let values = source.publisher.values(.suspending(4))
    let sender = Sender(0..<10, to: source)
    await sender.isSuspended(after: 4)
    #expect(values.bufferedCount == 4)
    #expect(await values.take(1) == [0])
    await sender.isSuspended(after: 4)
    #expect(await values.take(1) == [1])
    await sender.isSuspended(after: 6)
    #expect(values.bufferedCount == 4)
    #expect(await values.take(4) == [2, 3, 4, 5])
    await sender.isSuspended(after: 10)
    #expect(await values.take(4) == [6, 7, 8, 9])
  }

  @Test func `F1 one update is in flight with a limit of 1`() async {
    let source = BroadcastSource<Int>()
    let values = source.publisher.values(.suspending(1))
    let sender = Sender(0..<3, to: source)
    for number in 0..<3 {
      await sender.isSuspended(after: number + 1)
      #expect(values.bufferedCount == 1)
      #expect(await values.take(1) == [number])
    }
    await sender.finish()
  }

  @MainActor @Test func `F1 send stays on the actor of its caller`() async throws {
    let source = BroadcastSource<Int>()
    let values = source.publisher.values(.suspending(1))
    let reader = Task.detached { await values.take(4) }
    for number in 0..<4 {
      try await source.send(number)
      MainActor.assertIsolated()
    }
    #expect(await reader.finished() == [0, 1, 2, 3])
  }

  @Test func `F2 suspended senders resume in FIFO order`() async {
    let source = BroadcastSource<Int>()
    let values = source.publisher.values(.suspending(1))
    source.broadcast(-1)
    var senders: [Task<Void, any Error>] = []
    for number in 0..<20 {
      let priority: TaskPriority = number % 2 == 0 ? .low : .high
      senders.append(Task(priority: priority) { try await source.send(number) })
      await until { source.delivery.valve?.suspendedSenders.count == number + 1 }
    }
    #expect(await values.take(21) == Array(-1..<20))
    for sender in senders { try? await sender.finished() }
  }

  @Test func `F2 two senders never use the same room`() async {
    let source = BroadcastSource<Int>()
    let values = source.publisher.values(.suspending(3))
    let most = Shared(0)
    let senders = (0..<8).map { index in
      Task {
        for number in 0..<200 {
          try await source.send(index * 1_000 + number)
          let count = values.bufferedCount
          most.change { $0 = max($0, count) }
        }
      }
    }
    let updates = await values.take(1_600)
    for sender in senders { try? await sender.finished() }
    #expect(most.value <= 3)
    for index in 0..<8 {
      #expect(updates.filter { $0 / 1_000 == index } == (0..<200).map { index * 1_000 + $0 })
    }
  }

  @Test func `F3 suspending subscribers receive every update once, in order`() async throws {
    let source = BroadcastSource<Piece>()
    let existing = Shared(0)
    let loops = (0..<100).map { index in
      let values = source.publisher.values(.suspending(1 + index % 7))
      return Task {
        var numbers: [Int] = []
        for await piece in values {
          numbers.append(piece.number)
          if index == 0 { await Task.yield() }
        }
        return numbers
      }
    }
    var most = 0
    for number in 0..<300 {
      try await source.send(Piece(number, existing))
      most = max(most, existing.value)
    }
    source.end()
    for loop in loops { #expect(await loop.finished() == Array(0..<300)) }
    #expect(most <= 7 + 2)
    #expect(existing.value == 0)
  }

  @Test func `F4 broadcast never suspends, and send waits for half`() async {
    let source = BroadcastSource<Int>()
    let values = source.publisher.values(.suspending(2))
    for number in 0..<6 { source.broadcast(number) }
    #expect(values.bufferedCount == 6)
    let sender = Sender(6..<7, to: source)
    await sender.isSuspended(after: 0)
    #expect(await values.take(4) == [0, 1, 2, 3])
    await sender.isSuspended(after: 0)
    #expect(await values.take(1) == [4])
    await sender.finish()
    #expect(await values.take(2) == [5, 6])
  }

  @Test func `F5 offer refuses where send would suspend`() async {
    let source = BroadcastSource<Int>()
    #expect(source.offer(-1))
    let values = source.publisher.values(.suspending(2))
    #expect(source.offer(0))
    #expect(source.offer(1))
    #expect(!source.offer(2))
    #expect(await values.take(1) == [0])
    #expect(source.offer(3))
    source.end()
    #expect(!source.offer(4))
    #expect(await values.takeAll() == [1, 3])
  }

  @Test func `F6 send returns after delivery, without suspending subscribers`() async throws {
    let source = BroadcastSource<Int>()
    try await source.send(0)
    let received = Shared<[Int]>([])
    let subscription = source.publisher.subscribe { number in received.change { $0.append(number) }
    }
    let dropping = source.publisher.values(.bufferingOldest(1))
    for number in 1..<100 {
      try await source.send(number)
      #expect(received.value.last == number)
    }
    withExtendedLifetime((subscription, dropping)) {}
  }

  @Test func `F6 send returns after another thread has delivered`() async throws {
    let source = BroadcastSource<Int>()
    let (hasBegun, mayReturn) = (Gate(), Gate())
    let received = Shared<[Int]>([])
    let subscription = source.publisher.subscribe { number in
      if number == 0 {
        hasBegun.open()
        mayReturn.wait()
      }
      received.change { $0.append(number) }
    }
    let blocked = Task.detached { await onQueue { source.broadcast(0) } }
    await onQueue { hasBegun.wait() }
    let sender = Sender(1..<2, to: source)
    await until { source.pendingUpdates == 1 }
    for _ in 0..<20 { await Task.yield() }
    #expect(sender.sent.value == 0)
    mayReturn.open()
    await sender.finish()
    #expect(received.value == [0, 1])
    await blocked.finished()
    withExtendedLifetime(subscription) {}
  }

  @Test func `F7 a canceled task sends nothing, and the next sender takes its place`() async {
    let source = BroadcastSource<Int>()
    let values = source.publisher.values(.suspending(1))
    let before = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      try await source.send(-1)
    }
    await #expect(throws: CancellationError.self) { try await before.finished() }
    source.broadcast(0)
    let one = Sender(1..<2, to: source)
    try? await Task.sleep(for: .milliseconds(2))
    let other = Sender(2..<3, to: source)
    try? await Task.sleep(for: .milliseconds(2))
    one.cancel()
    await one.finish()
    #expect(one.hasThrown.value)
    #expect(await values.take(2) == [0, 2])
    await other.finish()
    #expect(values.bufferedCount == 0)
  }

  @Test func `F8 finishing the source refuses its senders`() async {
    let source = BroadcastSource<Int>()
    let values = source.publisher.values(.suspending(2))
    let sender = Sender(0..<9, to: source)
    await sender.isSuspended(after: 2)
    source.end()
    await sender.finish()
    #expect(sender.hasThrown.value)
    await #expect(throws: CancellationError.self) { try await source.send(9) }
    #expect(await values.takeAll() == [0, 1])
    let unread = BroadcastSource<Int>()
    unread.end()
    await #expect(throws: CancellationError.self) { try await unread.send(9) }
  }

  @Test(arguments: ["invalidate", "cancel", "break", "release"])
  func `F9 a canceled subscriber suspends no sender`(_ way: String) async {
    let source = BroadcastSource<Int>()
    weak let weakSource = source
    let values = Shared<PublisherValues<Int>?>(source.publisher.values(.suspending(2)))
    let sender = Sender(0..<9, to: source)
    await sender.isSuspended(after: 2)
    switch way {
    case "invalidate": values.value?.invalidate()
    case "cancel":
      let loop = Task { [values = values.value] in
        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
        for await _ in values ?? source.publisher.values(.unbounded) {}
      }
      await loop.finished()
    case "break":
      let loop = Task {
        guard let own = values.value else { return }
        values.value = nil
        for await _ in own { break }
      }
      await loop.finished()
    default: values.value = nil
    }
    await sender.finish()
    #expect(sender.sent.value == 9)
    #expect(source.slowSubscribers.isEmpty)
    #expect(way == "invalidate" || way == "cancel" || source.subscriberCount == 0)
    withExtendedLifetime(weakSource) {}
  }

  @Test func `F9 nothing retains source, subscriber, or updates`() async throws {
    let existing = Shared(0)
    weak var source: BroadcastSource<Piece>?
    do {
      let strong = BroadcastSource<Piece>()
      source = strong
      let values = strong.publisher.values(.suspending(1))
      try await strong.send(Piece(0, existing))
      let suspended = Task { try await strong.send(Piece(1, existing)) }
      await until { existing.value == 2 }
      try await Task.sleep(for: .milliseconds(2))
      suspended.cancel()
      _ = await suspended.result
      #expect(existing.value == 1)
      withExtendedLifetime(values) {}
    }
    await until { source == nil }
    #expect(source == nil)
    #expect(existing.value == 0)
  }
}
