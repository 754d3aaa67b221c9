import MiniRex
import MiniRexTesting
import TestSupport
import Testing

enum Request {
  @TaskLocal static var id = 0
  @TaskLocal static var name: String?

  /// Runs the body with the values of a sender.
  static func from(_ sender: Int, _ body: () -> Void) {
    $id.withValue(sender) { $name.withValue("\(sender)", operation: body) }
  }
}

@Suite(.light, .serialized) struct ContextTests {
  struct Update: Hashable, Sendable {
    let sender: Int
    let number: Int
  }

  /// Counts updates whose callback sees the values of another sender.
  final class Witness: Sendable {
    let received = Shared(0)
    let wrong = Shared(0)

    func look(_ update: Update) {
      received.increment()
      if Request.id != update.sender || Request.name != "\(update.sender)" { wrong.increment() }
    }
  }

  /// A path from a source to a callback.
  struct Path: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let follow:
      @Sendable (Broadcaster<Update>, ManualClock, @escaping @Sendable (Update) -> Void) async ->
        Subscription

    init(
      _ name: String,
      _ follow:
        @escaping @Sendable (
          Broadcaster<Update>, ManualClock, @escaping @Sendable (Update) -> Void
        ) async -> Subscription
    ) {
      testDescription = name
      self.follow = follow
    }

    static let all: [Path] = [
      Path("itself") { $0.subscribe($2) },
      Path("map and share") { $0.map { $0 }.share().subscribe($2) },
      Path("merge") { merge($0, BroadcastSource<Update>().publisher).subscribe($2) },
      Path("Broadcaster { receive in … }") { publisher, _, receive in
        Broadcaster<Update> { publisher.subscribe($0) }.subscribe(receive)
      },
      Path("flatMap(limit:)") { publisher, clock, receive in
        publisher
          .flatMap(limit: 2) { Broadcaster.sequence([$0], after: .seconds(1), clock: clock) }
          .subscribe(receive)
      },
      Path("debounce") { $0.debounce(for: .seconds(1), clock: $1).subscribe($2) },
      Path("throttle") { $0.throttle(for: .seconds(1), clock: $1).subscribe($2) },
      Path("delay") { $0.delay(for: .seconds(1), clock: $1).subscribe($2) },
      Path("chunked") { publisher, clock, receive in
        publisher.chunked(every: .seconds(1), clock: clock)
          .subscribe { if let last = $0.last { receive(last) } }
      },
      Path("subscribeOnMain") { publisher, _, receive in
        await MainActor.run { publisher.subscribeOnMain { receive($0) } }
      },
      Path("subscribe(isolatedTo:)") { publisher, _, receive in
        publisher.subscribe(isolatedTo: Listener.shared) { _, update in receive(update) }
      },
      Path("subscribe(_:) { await … }") { publisher, _, receive in
        publisher.subscribe(.unbounded) { update in
          await Task.yield()
          receive(update)
        }
      },
      Path("subscribe(.bufferingNewest) { await … }") { publisher, _, receive in
        publisher.subscribe(.bufferingNewest(1)) { update in
          await Task.yield()
          receive(update)
        }
      },
      Path("combineLatest") { publisher, _, receive in
        let first = Update(sender: 0, number: 0)
        let value = publisher.publishedValue(initial: first)
        return combineLatest(value, value.map { $0 }) { one, _ in one }
          .subscribe { if $0 != first { receive($0) } }
      },
      Path("computed") { publisher, _, receive in
        let first = Update(sender: 0, number: 0)
        let value = publisher.publishedValue(initial: first)
        return PublishedValue.computed { read in read(value) }
          .subscribe { if $0 != first { receive($0) } }
      },
    ]
  }

  actor Listener {
    static let shared = Listener()
  }

  /// Sends updates on eight threads, and advances the clock on another thread.
  private func contend(
    on clock: ManualClock, count: Int, _ send: @escaping @Sendable (Update) -> Void
  ) {
    onThreads(9) { thread in
      for number in 0..<count {
        if thread == 8 {
          clock.advance(by: .seconds(1))
        } else {
          Request.from(thread + 1) { send(Update(sender: thread + 1, number: number)) }
        }
      }
    }
    for _ in 0...(8 * count) { clock.advance(by: .seconds(1)) }
  }

  @Test(arguments: Path.all)
  func `R44 a queued or dispatched update has the carried values of its sender`(
    _ path: Path
  ) async {
    await withCarried(Request.$id, Request.$name) {
      let source = BroadcastSource<Update>()
      let clock = ManualClock()
      let witness = Witness()
      let last = Shared(false)
      let subscription = await path.follow(source.publisher, clock) { update in
        if update.sender == 9 { last.value = true } else { witness.look(update) }
      }
      contend(on: clock, count: scaled(200)) { source.broadcast($0) }
      // The last update may replace the updates that a bounded buffer still has.
      await until {
        clock.tick()
        return witness.received.value > 0
      }
      source.broadcast(Update(sender: 9, number: 0))
      await until {
        clock.tick()
        return last.value
      }
      #expect(witness.wrong.value == 0, "of \(witness.received.value)")
      withExtendedLifetime(subscription) {}
    }
  }

  @Test(arguments: Path.all)
  func `R44 an update that waits for another sender's callback has its own values`(
    _ path: Path
  ) async {
    await withCarried(Request.$id, Request.$name) {
      let source = BroadcastSource<Update>()
      let clock = ManualClock()
      let witness = Witness()
      let send: @Sendable (Int) -> Void = { sender in
        Request.from(sender) { source.broadcast(Update(sender: sender, number: 0)) }
      }
      let subscription = await path.follow(source.publisher, clock) { update in
        witness.look(update)
        // The other thread returns as soon as its update is queued.
        if update.sender < 4 { onThread { send(update.sender + 1) } }
      }
      send(1)
      await until {
        clock.tick()
        return witness.received.value == 4
      }
      #expect(witness.wrong.value == 0)
      withExtendedLifetime(subscription) {}
    }
  }

  @Test func `R44 a queued value of a property has the carried values of its sender`() async {
    await withCarried(Request.$id, Request.$name) {
      let property = PublishedProperty(Update(sender: 0, number: -1))
      let other = PublishedProperty(Update(sender: 0, number: -1))
      let witness = Witness()
      let subscriptions = [property, other].map { property in
        property.publisher.dropFirst().subscribe { witness.look($0) }
      }
      contend(on: ManualClock(), count: scaled(2_000)) { update in
        switch update.number % 3 {
        case 0: property.value = update
        case 1: property.modify { $0 = update }
        default:
          together { set in
            set(property, to: update)
            set(other, to: update)
          }
        }
      }
      await property.delivered()
      await other.delivered()
      #expect(witness.received.value > scaled(16_000))
      #expect(witness.wrong.value == 0, "of \(witness.received.value)")
      withExtendedLifetime(subscriptions) {}
    }
  }

  @Test func `R44 folded changes of a computed value have the values of the newest sender`() {
    withCarried(Request.$id) {
      let properties = (0..<4).map { _ in PublishedProperty(0) }
      let seen = Shared<[[Int]]>([])
      let total = PublishedValue.computed { read in
        let sum = properties.reduce(0) { $0 + read($1) }
        return [sum, Request.id]
      }
      let subscription = total.subscribe { result in
        seen.append(result + [Request.id])
        if result[0] != 1 { return }
        // Both threads return as soon as their changes are folded, into one run.
        for sender in [3, 2] {
          onThread { Request.from(sender) { properties[sender].value = 10 * sender } }
        }
        onThread { Request.from(4) { properties[3].value = 40 } }
      }

      Request.from(1) { properties[1].value = 1 }

      #expect(seen.value == [[0, 0, 0], [1, 1, 1], [61, 4, 4]])
      withExtendedLifetime(subscription) {}
    }
  }

  @Test func `R44 the last of several queued updates gives a computed value its values`() {
    withCarried(Request.$id) {
      let property = PublishedProperty(0)
      let seen = Shared<[[Int]]>([])
      let senders = property.publisher.subscribe { value in
        if value != 1 { return }
        for sender in 2...4 { onThread { Request.from(sender) { property.value = sender } } }
      }
      let subscription = PublishedValue.computed { read in [read(property), Request.id] }
        .subscribe { seen.append($0 + [Request.id]) }

      Request.from(1) { property.value = 1 }

      #expect(seen.value.allSatisfy { Set($0).count == 1 }, "\(seen.value)")
      #expect(seen.value.last?.first == 4)
      withExtendedLifetime((senders, subscription)) {}
    }
  }

  @Test func `R44 a loop over values has the values of the task that runs it`() async {
    await withCarried(Request.$id) {
      let source = BroadcastSource<Int>()
      let values = source.publisher.values(.unbounded)
      for sender in 1...3 { Request.from(sender) { source.broadcast(sender) } }
      source.end()
      let seen = await Request.$id.withValue(9) {
        var seen: [Int] = []
        for await _ in values { seen.append(Request.id) }
        return seen
      }
      #expect(seen == [9, 9, 9])
    }
  }

  @Test func `R44 a carried value is retained only while its update is queued`() {
    final class Value: Sendable {}
    enum Local {
      @TaskLocal static var value: Value?
    }
    withCarried(Local.$value) {
      let clock = ManualClock()
      let source = BroadcastSource<Int>()
      let seen = Shared<[Bool]>([])
      let subscription = source.publisher.delay(for: .seconds(1), clock: clock).subscribe { _ in
        seen.append(Local.value != nil)
      }
      weak var value: Value?
      do {
        let new = Value()
        value = new
        Local.$value.withValue(new) { source.broadcast(1) }
      }
      source.broadcast(2)
      #expect(value != nil)
      clock.advance(by: .seconds(1))
      #expect(value == nil)
      #expect(seen.value == [true, false])
      withExtendedLifetime(subscription) {}
    }
  }

  @Test func `R44 a retry of a resource has the carried values of its reader`() async {
    await withCarried(Request.$id) {
      let clock = ManualClock()
      let seen = Shared<[Int]>([])
      let resource = Resource<Int, any Error>(
        refreshEvery: .seconds(60), retries: 1, retryDelay: .constant(.seconds(1)), clock: clock
      ) {
        seen.append(Request.id)
        if seen.value.count == 1 { throw Backend.Failed(1) }
        return seen.value.count
      }
      resource.set(0)
      let states = Recorder(resource.publisher)
      Request.$id.withValue(7) { resource.refresh() }
      _ = await states.next(3)
      Request.$id.withValue(8) { clock.tick() }
      _ = await states.next()
      Request.$id.withValue(8) { clock.advance(by: .seconds(60)) }
      _ = await states.next(2)

      // A poll has no reader.
      #expect(seen.value == [7, 7, 0])
    }
  }

  @Test func `R44 without carried task-locals nothing is carried`() {
    let clock = ManualClock()
    let source = BroadcastSource<Int>()
    let seen = Recorder(
      source.publisher.delay(for: .seconds(1), clock: clock).map { _ in Request.id })
    Request.$id.withValue(7) { source.broadcast(1) }
    Request.$id.withValue(8) { clock.advance(by: .seconds(1)) }
    #expect(seen.updates == [8])
    withCarried(Request.$id) {
      Request.$id.withValue(7) { source.broadcast(1) }
      Request.$id.withValue(8) { clock.advance(by: .seconds(1)) }
    }
    #expect(seen.updates == [8, 7])
  }

  /// Queues two updates of sender 2 and the end of sender 3 while the update 1 is delivered.
  private func endBehindFirstUpdate(_ source: BroadcastSource<Int>) -> Subscription {
    source.publisher.subscribe { update in
      if update != 1 { return }
      // Both threads return as soon as their updates and the end are queued.
      onThread {
        Request.from(2) {
          source.broadcast(2)
          source.broadcast(3)
        }
      }
      onThread { Request.from(3) { source.end() } }
    }
  }

  @Test func `R44 the rest of a chunk has the carried values of the sender that ended the source`()
  {
    withCarried(Request.$id) {
      let source = BroadcastSource<Int>()
      let seen = Shared<[[Int]]>([])
      let chunks = source.publisher.chunked(by: 2)
      let subscriptions = [
        chunks.subscribe { seen.append($0 + [Request.id]) },
        chunks.subscribe { seen.append($0 + [Request.id]) },
        endBehindFirstUpdate(source),
      ]

      Request.from(1) { source.broadcast(1) }

      #expect(seen.value == [[1, 2, 2], [1, 2, 2], [3, 3], [3, 3]])
      withExtendedLifetime(subscriptions) {}
    }
  }

  @Test func `R44 a timer has no values of the sender that set it`() async {
    final class Value: Sendable {}
    enum Local {
      @TaskLocal static var value: Value?
    }
    let clock = ManualClock()
    let sleeping = SleepingClock(manual: clock)
    let source = BroadcastSource<Int>()
    let resource = Resource<Int, Never>(staleAfter: .seconds(3), clock: sleeping) { 1 }
    let seen = Shared<[Bool]>([])
    let stale = Shared<[Bool]>([])
    var subscriptions = [
      source.publisher.debounce(for: .seconds(2), clock: sleeping).subscribe { _ in
        seen.append(Local.value != nil)
      }
    ]
    weak var value: Value?
    do {
      let new = Value()
      value = new
      Local.$value.withValue(new) {
        source.broadcast(1)
        resource.set(1)
        subscriptions.append(
          resource.publisher.subscribe { if $0.isStale { stale.append(Local.value != nil) } })
      }
    }
    await until { clock.sleeperCount == 2 }
    await clock.advance(by: .seconds(1))
    // The first timer is kept, and sets the timer of this update.
    source.broadcast(2)
    #expect(value == nil)
    await until {
      await clock.advance(by: .seconds(1))
      return !seen.value.isEmpty && !stale.value.isEmpty
    }

    #expect(seen.value == [false])
    #expect(stale.value == [false])
    withExtendedLifetime(subscriptions) {}
  }

  @Test func `R44 the end of a dispatched source has the carried values of its sender`() {
    withCarried(Request.$id) {
      let source = BroadcastSource<Int>()
      let jobs = Shared<[@Sendable () -> Void]>([])
      let seen = Shared<[[Int]]>([])
      let dispatched = Broadcaster<Int> { receive in
        Dispatcher<Int, @Sendable (Int) -> Void>(receive, limit: .none) { dispatcher, _ in
          jobs.append { dispatcher.run { $0($1) } }
        }
        .subscribe(to: source.publisher)
      }
      let subscriptions = [
        dispatched.chunked(by: 2).subscribe { seen.append($0 + [Request.id]) },
        endBehindFirstUpdate(source),
      ]

      Request.from(1) { source.broadcast(1) }
      Request.from(4) { for job in jobs.value { job() } }

      #expect(jobs.value.count == 1)
      #expect(seen.value == [[1, 2, 2], [3, 3]])
      // The dispatcher retains the jobs, which retain it.
      jobs.value = []
      withExtendedLifetime(subscriptions) {}
    }
  }

  @Test func `R44 the end of a delayed source has the carried values of its sender`() {
    withCarried(Request.$id) {
      let source = BroadcastSource<Int>()
      let clock = ManualClock()
      let seen = Recorder(
        source.publisher.delay(for: .seconds(1), clock: clock).chunked(by: 2)
          .map { $0 + [Request.id] })
      Request.from(1) { source.broadcast(1) }
      Request.from(3) { source.end() }

      Request.from(4) { clock.tick() }

      #expect(seen.updates == [[1, 3]] && seen.hasEnded)
    }
  }

  @Test func `R44 the end behind a long queue has the carried values of its sender`() async {
    await withCarried(Request.$id) {
      let count = 3 * Schedule.patience
      for _ in 0..<scaled(10) {
        let source = BroadcastSource<Int>()
        let seen = Shared<[Int]>([])
        let subscriptions = [
          source.publisher.chunked(by: .max).subscribe { seen.value = [$0.count, Request.id] },
          source.publisher.subscribe { update in
            if update != 0 { return }
            onThread { for number in 1..<count { source.broadcast(number) } }
          },
        ]

        source.broadcast(0)
        // This thread has handed over. It continues unless a Swift task does, and hands over again.
        Request.from(3) { source.end() }
        await until { !seen.value.isEmpty }

        #expect(seen.value == [count, 3])
        withExtendedLifetime(subscriptions) {}
      }
    }
  }

  /// Values that count themselves.
  final class Counted: Sendable {
    static let count = Shared(0)
    @TaskLocal static var value: Counted?

    init() { Counted.count.increment() }

    deinit { Counted.count.increment(by: -1) }
  }

  @Test func `R44 an end retains no carried values without a subscriber`() {
    withCarried(Counted.$value) {
      let task = TaskSource<Int, Never>()
      Counted.$value.withValue(Counted()) { _ = task.finish(.success(1)) }
      #expect(Counted.count.value == 0)

      let source = BroadcastSource<Int>()
      let canceled = Shared<Subscription?>(nil)
      canceled.value = source.publisher.subscribe { _ in
        onThread { Counted.$value.withValue(Counted()) { source.end() } }
        canceled.value?.invalidate()
      }
      source.broadcast(1)
      #expect(Counted.count.value == 0)

      let other = BroadcastSource<Int>()
      let dispatched = Dispatcher<Int, @Sendable (Int) -> Void>({ _ in }, limit: .none) { _, _ in }
        .subscribe(to: other.publisher)
      Counted.$value.withValue(Counted()) { dispatched.invalidate() }
      #expect(Counted.count.value == 0)
      withExtendedLifetime((task, source, other, dispatched)) {}
    }
  }
}

extension ManualClock {
  func tick() { advance(by: .seconds(1)) }
}
