import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// At least one test per rule of the delivery contract, named after the rule.
///
/// The randomized tests are in `Storms`.
@Suite(.light) struct ContractTests {
  // R1–R5 and R24: order

  @Test func `R1 callbacks of one subscription never overlap`()
    async
  {
    let overlaps = Shared(0)
    let isInside = Shared(false)
    let calls = Shared(0)
    let publisher = Broadcaster<Int> { receive in
      onThreads(4) { thread in
        for number in 0..<500 { receive(thread * 1_000 + number) }
      }
      return Subscription {}
    }

    let subscription = publisher.removeDuplicates().subscribe { _ in
      if isInside.change({ inside in
        defer { inside = true }
        return inside
      }) {
        overlaps.increment()
      }
      calls.increment()
      isInside.value = false
    }
    // After 1,000 updates of other threads, a Swift task continues.
    await until { calls.value >= 2_000 }
    withExtendedLifetime(subscription) {}

    #expect(overlaps.value == 0)
    #expect(calls.value == 2_000)
  }

  @Test func `R2 updates of one thread keep their order`() {
    let source = BroadcastSource<Int>()
    let recorder = Recorder(source.publisher)

    for number in 0..<100 { source.broadcast(number) }

    #expect(recorder.updates == Array(0..<100))
  }

  @Test func `R3 a re-entrant send waits until every subscriber has the current update`() {
    let source = BroadcastSource<Int>()
    let first = Recorder(source.publisher) { if $0 == 1 { source.broadcast(2) } }
    let second = Recorder(source.publisher)

    source.broadcast(1)

    #expect(first.updates == [1, 2])
    #expect(second.updates == [1, 2])
  }

  @Test func `R3 a re-entrant send returns before its update is delivered`() {
    let source = BroadcastSource<Int>()
    let depth = Shared(0)
    let deepest = Shared(0)
    let subscription = source.publisher.subscribe { number in
      let inside = depth.increment()
      deepest.change { $0 = max($0, inside) }
      if number < 10 { source.broadcast(number + 1) }
      depth.increment(by: -1)
    }

    source.broadcast(0)

    #expect(deepest.value == 1)
    withExtendedLifetime(subscription) {}
  }

  @Test func `R3 a chain of 10,000 re-entrant sends fits on 512 KiB of stack`() {
    let length = chainSteps(overflowingDepth)
    let last = Shared(0)
    let lastSet = Shared(0)
    onThread(stackSize: 512 * 1_024) {
      let source = BroadcastSource<Int>()
      let chain = source.publisher.map { $0 + 1 }.filter { $0 > 0 }.subscribe { number in
        last.value = number
        if number < length { source.broadcast(number) }
      }
      source.broadcast(0)
      let property = PublishedProperty(0)
      let other = property.publisher.subscribe { number in
        lastSet.value = number
        if number < length { property.value = number + 1 }
      }
      withExtendedLifetime((chain, other)) {}
    }

    #expect(last.value == length)
    #expect(lastSet.value == length)
  }

  @Test func `R4 subscribers run in the order in which they subscribed`() {
    let source = BroadcastSource<Int>()
    let calls = Shared<[Int]>([])
    var subscriptions = (0..<200).map { index in
      source.publisher.subscribe { _ in calls.change { $0.append(index) } }
    }
    for index in stride(from: 198, through: 0, by: -2) {
      subscriptions.remove(at: index).invalidate()
    }
    subscriptions.append(source.publisher.subscribe { _ in calls.change { $0.append(200) } })

    source.broadcast(1)

    #expect(calls.value == Array(stride(from: 1, through: 199, by: 2)) + [200])
    withExtendedLifetime(subscriptions) {}
  }

  @Test
  func
    `R5 a subscriber of a turn receives no current or queued update`()
  {
    let source = BroadcastSource<Int>()
    let late = Shared<[Int]>([])
    let bag = SubscriptionBag()
    let early = Recorder(source.publisher) { number in
      guard number == 1 else { return }
      source.broadcast(2)
      source.publisher.subscribe { number in late.change { $0.append(number) } }.store(in: bag)
      source.broadcast(3)
    }

    source.broadcast(1)

    #expect(early.updates == [1, 2, 3])
    #expect(late.value == [3])
  }

  @Test func `R5 a published value emits first inside subscribe, even in its own callback`() {
    let property = PublishedProperty(1)
    let late = Shared<[Int]>([])
    let seenInside = Shared<[Int]>([])
    let bag = SubscriptionBag()
    let early = Recorder(property.publisher) { number in
      guard number == 2 else { return }
      property.value = 3
      property.publisher.subscribe { number in late.change { $0.append(number) } }.store(in: bag)
      seenInside.value = late.value
      property.value = 4
    }

    property.value = 2

    #expect(early.updates == [1, 2, 3, 4])
    #expect(seenInside.value == [3])
    #expect(late.value == [3, 4])
  }

  @Test func `R5 while another thread delivers, the first value is a separate turn`() {
    let property = PublishedProperty(0)
    let isDelivering = Gate()
    let mayContinue = Gate()
    let holder = property.publisher.subscribe { number in
      if number != 1 { return }
      isDelivering.open()
      mayContinue.wait()
    }
    let late = Shared<Recorder<Int>?>(nil)
    let seenAtOnce = Shared<[Int]>([-1])
    onThreads(2) { index in
      if index == 0 {
        property.value = 1
        return
      }
      isDelivering.wait()
      property.value = 2
      let recorder = Recorder(property.publisher)
      seenAtOnce.value = recorder.updates
      late.value = recorder
      property.value = 3
      mayContinue.open()
    }

    #expect(seenAtOnce.value == [])
    #expect(late.value?.updates == [2, 3])
    withExtendedLifetime(holder) {}
  }

  enum Local { @TaskLocal static var name = "none" }

  @Test func `R5 100,000 subscribers of one turn receive their first value`() async {
    await #expect(processExitsWith: .success) {
      // A linear search per subscriber would take minutes.
      mustEnd()
      let property = PublishedProperty(0)
      let isDelivering = Gate()
      let mayContinue = Gate()
      let calls = Shared(0)
      let bag = SubscriptionBag()
      property.publisher.dropFirst().subscribe { _ in
        isDelivering.open()
        mayContinue.wait()
      }.store(in: bag)

      onThreads(2) { index in
        if index == 0 {
          property.value = 1
        } else {
          isDelivering.wait()
          for _ in 0..<scaled(100_000) {
            property.publisher.subscribe { _ in calls.increment() }.detached()
          }
          mayContinue.open()
        }
      }

      await until { calls.value >= scaled(100_000) }
      precondition(calls.value == scaled(100_000))
    }
  }

  @Test func `R24 a turn runs synchronously on the sender's stack`() {
    let source = BroadcastSource<Int>()
    let names = Shared<[String]>([])
    let threads = Shared<[ThreadID]>([])
    let subscription = source.publisher.subscribe { _ in
      names.change { $0.append(Local.name) }
      threads.change { $0.append(.current) }
    }

    Local.$name.withValue("sender") { source.broadcast(1) }

    #expect(names.value == ["sender"])
    #expect(threads.value == [.current])
    withExtendedLifetime(subscription) {}
  }

  @Test
  func `R24 a send returns before delivery while another thread delivers`() {
    let source = BroadcastSource<Int>()
    let isDelivering = Gate()
    let mayContinue = Gate()
    let pending = Shared(0)
    let recorder = Recorder(source.publisher) { number in
      if number != 1 { return }
      isDelivering.open()
      mayContinue.wait()
    }
    onThreads(2) { index in
      if index == 0 { return source.broadcast(1) }
      isDelivering.wait()
      source.broadcast(2)
      source.broadcast(3)
      pending.value = source.pendingUpdates
      mayContinue.open()
    }

    #expect(pending.value == 2)
    #expect(source.pendingUpdates == 0)
    #expect(recorder.updates == [1, 2, 3])
  }

  @Test func `R24 a thread delivers at most 1,000 updates for other senders`()
    async
  {
    let source = BroadcastSource<Int>()
    let isDelivering = Gate()
    let mayContinue = Gate()
    let deliverer = Shared<ThreadID?>(nil)
    let delivered = Shared(0)
    let recorder = Recorder(source.publisher) { number in
      if number == -1 {
        isDelivering.open()
        mayContinue.wait()
      } else if deliverer.value == .current {
        delivered.increment()
      }
    }
    onThreads(2) { index in
      if index == 0 {
        deliverer.value = .current
        source.broadcast(-1)
        deliverer.value = nil
        return
      }
      isDelivering.wait()
      for number in 0..<5_000 { source.broadcast(number) }
      mayContinue.open()
    }

    let updates = await recorder.next(5_001)

    #expect(updates == Array(-1..<5_000))
    #expect(delivered.value == 1_000)
  }

  @Test func `R24 with the executor blocked, the next caller continues delivery`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let never = Gate()
      // Block more tasks than the executor has threads, all of them before the task that continues.
      for _ in 0..<1_000 { Task.detached { never.wait() } }

      for caller in Caller.allCases {
        let property = PublishedProperty(0)
        let isDelivering = Gate()
        let mayContinue = Gate()
        let calls = Shared(0)
        let subscription = property.publisher.dropFirst().subscribe { number in
          calls.increment()
          if number == 1 {
            isDelivering.open()
            mayContinue.wait()
          }
        }
        onThreads(2) { index in
          if index == 0 {
            property.value = 1
            return
          }
          isDelivering.wait()
          for number in 2...3_001 { property.value = number }
          mayContinue.open()
        }
        precondition(calls.value == 1_001)

        caller.use(property)
        caller.use(property)

        precondition(calls.value == 3_001 + caller.updates)
        withExtendedLifetime(subscription) {}
      }
    }
  }

  @Test func `R16 R24 a caller that continues a combination delivers its change`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let never = Gate()
      for _ in 0..<1_000 { Task.detached { never.wait() } }

      let (left, right) = (PublishedProperty(0), PublishedProperty(0))
      let isDelivering = Gate()
      let mayContinue = Gate()
      let last = Shared((0, 0))
      let early = Shared(0)
      let subscription = combineLatest(left.publisher, right.publisher).subscribe { pair in
        last.value = pair
        // The new change is delivered after the queued updates.
        if pair.1 > 1, pair.0 < 3_000 { early.increment() }
        if pair == (0, 1) {
          isDelivering.open()
          mayContinue.wait()
        }
      }
      onThreads(2) { index in
        if index == 0 {
          right.value = 1
          return
        }
        isDelivering.wait()
        for number in 1...3_000 { left.value = number }
        mayContinue.open()
      }
      precondition(last.value == (1_000, 1))

      right.value = 2
      right.value = 3

      precondition(last.value == (3_000, 3))
      precondition(early.value == 0)
      withExtendedLifetime(subscription) {}
    }
  }

  @Test func `R24 a thread delivers the sends of its own callbacks without limit`() {
    let source = BroadcastSource<Int>()
    let threads = Shared<Set<ThreadID>>([])
    let subscription = source.publisher.subscribe { number in
      threads.change { _ = $0.insert(.current) }
      if number < 5_000 { source.broadcast(number + 1) }
    }

    source.broadcast(0)

    #expect(threads.value == [.current])
    #expect(source.pendingUpdates == 0)
    withExtendedLifetime(subscription) {}
  }
}

/// An operation on a property whose delivering thread has handed over.
private enum Caller: CaseIterable {
  case sender, subscriber, ending

  func use(_ property: PublishedProperty<Int>) {
    switch self {
    case .sender: property.modify { $0 += 1 }
    case .subscriber: _ = property.publisher.subscribe { _ in }
    case .ending: property.end()
    }
  }

  /// The number of updates that two of these operations add.
  var updates: Int { self == .sender ? 2 : 0 }
}
