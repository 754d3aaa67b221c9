import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// One test or more for each rule of the delivery contract, named after it; the storms are beside.
@Suite(.timeLimit(.minutes(20))) struct ContractTests {
  // R1–R5 and R24: order

  @Test func `R1 a publisher whose closure calls from many threads calls each subscriber serially`()
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
    // Past 1,000 updates of other threads a Swift task goes on.
    while calls.value < 2_000 { await Task.yield() }
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

  @Test func `R3 an update sent during a turn waits for everybody to get the current one`() {
    let source = BroadcastSource<Int>()
    let first = Recorder(source.publisher) { if $0 == 1 { source.broadcast(2) } }
    let second = Recorder(source.publisher)

    source.broadcast(1)

    #expect(first.updates == [1, 2])
    #expect(second.updates == [1, 2])
  }

  @Test func `R3 an update sent during a turn is never delivered inside the callback that sent it`()
  {
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

  @Test func `R3 a chain of a million re-entrant updates needs no more than 512 KiB of stack`() {
    let length = scaled(1_000_000)
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

  @Test func `R4 subscribers are called in the order in which they subscribed`() {
    let source = BroadcastSource<Int>()
    let calls = Shared<[Int]>([])
    var tokens = (0..<200).map { index in
      source.publisher.subscribe { _ in calls.change { $0.append(index) } }
    }
    for index in stride(from: 198, through: 0, by: -2) { tokens.remove(at: index).invalidate() }
    tokens.append(source.publisher.subscribe { _ in calls.change { $0.append(200) } })

    source.broadcast(1)

    #expect(calls.value == Array(stride(from: 1, through: 199, by: 2)) + [200])
    withExtendedLifetime(tokens) {}
  }

  @Test
  func
    `R5 a subscriber that joins during a turn gets neither the update being delivered nor those queued`()
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

  @Test func `R5 a published value calls first inside subscribe, also from a callback of its own`()
  {
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

  @Test func `R5 while another thread delivers, the first value is queued as a turn of its own`() {
    let property = PublishedProperty(0)
    let isDelivering = Gate()
    let mayGoOn = Gate()
    let holder = property.publisher.subscribe { number in
      if number != 1 { return }
      isDelivering.open()
      mayGoOn.wait()
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
      mayGoOn.open()
    }

    #expect(seenAtOnce.value == [])
    #expect(late.value?.updates == [2, 3])
    withExtendedLifetime(holder) {}
  }

  enum Local { @TaskLocal static var name = "none" }

  @Test func `R5 half a million who join during one turn get their first value one by one`() async {
    await #expect(processExitsWith: .success) {
      // A look at all of them for each of them would take hours.
      mustEnd()
      let property = PublishedProperty(0)
      let isDelivering = Gate()
      let mayGoOn = Gate()
      let calls = Shared(0)
      let bag = SubscriptionBag()
      property.publisher.dropFirst().subscribe { _ in
        isDelivering.open()
        mayGoOn.wait()
      }.store(in: bag)

      onThreads(2) { index in
        if index == 0 {
          property.value = 1
        } else {
          isDelivering.wait()
          for _ in 0..<scaled(500_000) {
            property.publisher.subscribe { _ in calls.increment() }.detached()
          }
          mayGoOn.open()
        }
      }

      while calls.value < scaled(500_000) { await Task.yield() }
      precondition(calls.value == scaled(500_000))
    }
  }

  @Test func `R24 a turn runs on the sender's stack, with its task-local values`() {
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
  func `R24 while another thread delivers, the sender returns before its update is delivered`() {
    let source = BroadcastSource<Int>()
    let isDelivering = Gate()
    let mayGoOn = Gate()
    let pending = Shared(0)
    let recorder = Recorder(source.publisher) { number in
      if number != 1 { return }
      isDelivering.open()
      mayGoOn.wait()
    }
    onThreads(2) { index in
      if index == 0 { return source.broadcast(1) }
      isDelivering.wait()
      source.broadcast(2)
      source.broadcast(3)
      pending.value = source.pendingUpdates
      mayGoOn.open()
    }

    #expect(pending.value == 2)
    #expect(source.pendingUpdates == 0)
    #expect(recorder.updates == [1, 2, 3])
  }

  @Test func `R24 a deliverer delivers at most 1,000 updates of others, then a Swift task goes on`()
    async
  {
    let source = BroadcastSource<Int>()
    let isDelivering = Gate()
    let mayGoOn = Gate()
    let deliverer = Shared<ThreadID?>(nil)
    let delivered = Shared(0)
    let recorder = Recorder(source.publisher) { number in
      if number == -1 {
        isDelivering.open()
        mayGoOn.wait()
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
      mayGoOn.open()
    }

    let updates = await recorder.next(5_001)

    #expect(updates == Array(-1..<5_000))
    #expect(delivered.value == 1_000)
  }

  @Test func `R24 with every thread of tasks blocked, whoever comes next goes on`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let never = Gate()
      // More than the platform will ever run at once, and all of them before the one that goes on.
      for _ in 0..<1_000 { Task.detached { never.wait() } }

      for comer in Comer.allCases {
        let property = PublishedProperty(0)
        let isDelivering = Gate()
        let mayGoOn = Gate()
        let calls = Shared(0)
        let subscription = property.publisher.dropFirst().subscribe { number in
          calls.increment()
          if number == 1 {
            isDelivering.open()
            mayGoOn.wait()
          }
        }
        onThreads(2) { index in
          if index == 0 {
            property.value = 1
            return
          }
          isDelivering.wait()
          for number in 2...3_001 { property.value = number }
          mayGoOn.open()
        }
        precondition(calls.value == 1_001)

        comer.come(to: property)
        comer.come(to: property)

        precondition(calls.value == 3_001 + comer.updates)
        withExtendedLifetime(subscription) {}
      }
    }
  }

  @Test func `R16 R24 whoever goes on with a combination brings a change that is told`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let never = Gate()
      for _ in 0..<1_000 { Task.detached { never.wait() } }

      let (left, right) = (PublishedProperty(0), PublishedProperty(0))
      let isDelivering = Gate()
      let mayGoOn = Gate()
      let last = Shared((0, 0))
      let early = Shared(0)
      let subscription = combineLatest(left.publisher, right.publisher).subscribe { pair in
        last.value = pair
        // What is brought is told in its turn, behind what waits.
        if pair.1 > 1, pair.0 < 3_000 { early.increment() }
        if pair == (0, 1) {
          isDelivering.open()
          mayGoOn.wait()
        }
      }
      onThreads(2) { index in
        if index == 0 {
          right.value = 1
          return
        }
        isDelivering.wait()
        for number in 1...3_000 { left.value = number }
        mayGoOn.open()
      }
      precondition(last.value == (1_000, 1))

      right.value = 2
      right.value = 3

      precondition(last.value == (3_000, 3))
      precondition(early.value == 0)
      withExtendedLifetime(subscription) {}
    }
  }

  @Test func `R24 what its own callbacks send, a deliverer delivers without limit`() {
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

/// Whoever comes to a property whose deliverer has handed over.
private enum Comer: CaseIterable {
  case sender, subscriber, ending

  func come(to property: PublishedProperty<Int>) {
    switch self {
    case .sender: property.modify { $0 += 1 }
    case .subscriber: _ = property.publisher.subscribe { _ in }
    case .ending: property.end()
    }
  }

  /// How many updates come with them, in two times.
  var updates: Int { self == .sender ? 2 : 0 }
}
