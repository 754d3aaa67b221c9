import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@MainActor private final class Label {
  var text = ""
  var hint: String?
}

@MainActor @Suite(.light) struct ActorTests {
  @Test func `on the main thread, subscribeOnMain calls back synchronously`() {
    let property = PublishedProperty(1)
    var seen: [Int] = []
    let subscription = property.publisher.subscribeOnMain { seen.append($0) }
    #expect(seen == [1])

    property.value = 2

    #expect(seen == [1, 2])
    withExtendedLifetime(subscription) {}
  }

  @Test func `bindOnMain assigns to an optional property`() {
    let property = PublishedProperty("a")
    let missing = PublishedProperty<String?>("c")
    let label = Label()

    let binding = property.publisher.bindOnMain(to: label, \.hint)
    #expect(label.hint == "a")
    property.value = "b"
    #expect(label.hint == "b")
    binding.invalidate()
    let other = missing.publisher.bindOnMain(to: label, \.hint)
    missing.value = nil
    #expect(label.hint == nil)
    withExtendedLifetime(other) {}
  }

  @Test func `updates sent after a dispatched update keep their place in the order`() async {
    let property = PublishedProperty(0)
    var seen: [Int] = []
    let subscription = property.publisher.subscribeOnMain { seen.append($0) }
    onThread { property.value = 1 }
    property.value = 2
    #expect(seen == [0])

    await until { seen.count >= 3 }
    property.value = 3

    #expect(seen == [0, 1, 2, 3])
    withExtendedLifetime(subscription) {}
  }

  @Test func `R3 a chain of re-entrant updates on the main actor uses constant stack`() async {
    let length = chainSteps(overflowingDepth)
    let source = BroadcastSource<Int>()
    var last = 0
    let subscription = source.publisher.subscribeOnMain { number in
      last = number
      if number < length { source.broadcast(number + 1) }
    }

    source.broadcast(1)

    await until { last >= length }
    withExtendedLifetime(subscription) {}
  }

  @Test func `callbacks of subscribeOnMain never nest`() {
    let source = BroadcastSource<Int>()
    var depth = 0
    var deepest = 0
    let subscription = source.publisher.subscribeOnMain { number in
      depth += 1
      deepest = max(deepest, depth)
      if number < 3 { source.broadcast(number + 1) }
      depth -= 1
    }

    source.broadcast(0)

    #expect(deepest == 1)
    withExtendedLifetime(subscription) {}
  }

  @Test func `R20 canceling before the dispatched call drops it and releases the update`() async {
    let source = BroadcastSource<Witness>()
    var calls = 0
    let releases = Shared(0)
    let subscription = source.publisher.subscribeOnMain { _ in calls += 1 }
    onThread { source.broadcast(Witness { releases.increment() }) }
    #expect(releases.value == 0)

    subscription.invalidate()

    #expect(releases.value == 1)
    for _ in 0..<10 { await Task.yield() }
    #expect(calls == 0)
  }

  @Test func `bindOnMain sets a property until its object is deallocated`() {
    let property = PublishedProperty("a")
    var label: Label? = Label()
    weak let observed = label
    let subscription = label.map { property.publisher.bindOnMain(to: $0, \.text) }
    #expect(label?.text == "a")
    property.value = "b"
    #expect(label?.text == "b")

    label = nil
    #expect(observed == nil)
    property.value = "c"

    #expect(subscription?.isSubscribed == false)
  }

  @Test func `R26 a subscription ends after its dispatched updates`() async {
    let source = BroadcastSource<Int>()
    var seen: [Int] = []
    let subscription = source.publisher.subscribeOnMain { seen.append($0) }
    onThread {
      source.broadcast(1)
      source.broadcast(2)
      source.end()
    }
    #expect(subscription.isSubscribed)

    await until { !subscription.isSubscribed }

    #expect(seen == [1, 2])
  }

  @Test func `R13 a source deallocated on the main actor ends its subscriptions synchronously`() {
    let released = Shared(0)
    var source: BroadcastSource<Int>? = BroadcastSource()
    var subscription: Subscription?
    do {
      let witness = Witness { released.increment() }
      subscription = source?.publisher.subscribeOnMain { _ in witness.touch() }
    }
    source?.broadcast(1)

    source = nil

    #expect(subscription?.isSubscribed == false)
    #expect(released.value == 1)
  }

  @Test func `R13 a source that ends in its callback on the main actor finishes after it`() {
    let source = BroadcastSource<Int>()
    var seen: [Int] = []
    let subscription = source.publisher.subscribeOnMain { number in
      seen.append(number)
      source.end()
    }

    source.broadcast(1)

    #expect(seen == [1])
    #expect(!subscription.isSubscribed)
  }

  @Test func `R11 R20 invalidate releases updates that are queued for a busy actor`() async {
    actor Busy {
      var calls = 0
      func hold(until gate: Gate, _ isHeld: Gate) {
        isHeld.open()
        gate.wait()
      }
      func call() { calls += 1 }
    }
    let busy = Busy()
    let isHeld = Gate()
    let gate = Gate()
    let source = BroadcastSource<Witness>()
    let released = Shared(0)
    let subscription = source.publisher.subscribe(isolatedTo: busy) { busy, _ in busy.call() }
    let holding = Task.detached { await busy.hold(until: gate, isHeld) }
    onThread { isHeld.wait() }
    onThread { for _ in 0..<3 { source.broadcast(Witness { released.increment() }) } }
    #expect(released.value == 0)

    subscription.invalidate()

    #expect(released.value == 3)
    gate.open()
    await holding.finished()
    #expect(await busy.calls == 0)
  }

  @Test func `subscribe isolatedTo delivers on the actor, in order, and holds it weakly`() async {
    actor Log {
      var numbers: [Int] = []
      func append(_ number: Int) { numbers.append(number) }
    }
    let source = BroadcastSource<Int>()
    var log: Log? = Log()
    weak let observed = log
    let subscription = log.map { log in
      source.publisher.subscribe(isolatedTo: log) { log, number in
        log.assertIsolated()
        log.append(number)
      }
    }
    for number in 0..<10 { source.broadcast(number) }
    await until { await log?.numbers.count == 10 }
    #expect(await log?.numbers == Array(0..<10))

    log = nil
    await until { observed == nil }
    source.broadcast(10)

    #expect(subscription?.isSubscribed == false)
    #expect(source.subscriberCount == 0)
  }
}
