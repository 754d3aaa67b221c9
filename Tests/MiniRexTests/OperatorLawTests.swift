import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// An operator in a form that changes nothing, so that all of them can be held to the same laws.
struct Operator: Sendable, CustomTestStringConvertible {
  let name: String
  let apply: @Sendable (Broadcaster<Int>) -> Broadcaster<Int>
  /// True if it is a source of its own, to which an update is sent when it comes from above.
  private(set) var isSource = false

  init(_ name: String, _ apply: @escaping @Sendable (Broadcaster<Int>) -> Broadcaster<Int>) {
    self.name = name
    self.apply = apply
  }

  var testDescription: String { name }

  private var source: Operator {
    var source = self
    source.isSource = true
    return source
  }

  static let all: [Operator] = [
    Operator("map") { $0.map { $0 + 1 }.map { $0 - 1 } },
    Operator("filter") { $0.filter { _ in true } },
    Operator("compactMap") { $0.compactMap { $0 } },
    Operator("scan") { $0.scan(0) { $1 } },
    Operator("prefix") { $0.prefix(.max) },
    Operator("prefix while") { $0.prefix { _ in true } },
    Operator("dropFirst") { $0.dropFirst(0) },
    Operator("drop while") { $0.drop { _ in false } },
    Operator("removeDuplicates") { $0.removeDuplicates() },
    Operator("removeDuplicates by") { $0.removeDuplicates { _, _ in false } },
    Operator("merge") { merge($0, Broadcaster<Int>.sequence([])) },
    Operator("withLatest") { $0.withLatest(from: .constant("a")).map { number, _ in number } },
    Operator("switchToLatest") { updates in
      Broadcaster.sequence([.never, updates]).switchToLatest()
    },
    Operator("switchToLatest of the last update") { updates in
      updates.map { Broadcaster.sequence([$0]) }.switchToLatest()
    },
    Operator("flatMapLatest") { $0.flatMapLatest { PublishedValue.constant($0) } },
    Operator("share") { $0.share() }.source,
    Operator("share of share") { $0.share().share() }.source,
    Operator("combineLatest") {
      combineLatest($0.publishedValue(initial: 0), .constant(1)) { number, _ in number }.dropFirst()
    }.source,
    Operator("publishedValue") { $0.publishedValue(initial: 0).dropFirst() }.source,
    Operator("value, shared and switched") {
      let value = $0.publishedValue(initial: 0).share()
      return PublishedValue.constant(value).switchToLatest().dropFirst()
    }.source,
  ]
}

@Suite struct OperatorLawTests {
  @Test(arguments: Operator.all)
  func `R1 R2 two threads that send call one at a time, and everybody in one order`(
    subject: Operator
  ) async {
    let source = BroadcastSource<Int>()
    let publisher = subject.apply(source.publisher)
    let overlaps = Shared(0)
    let recorders = (0..<3).map { _ in
      let inside = Shared(0)
      return Recorder(publisher) { _ in
        if inside.increment() != 1 { overlaps.increment() }
        inside.increment(by: -1)
      }
    }
    let count = scaled(1_000)

    onThreads(2) { thread in
      for number in 1...count { source.broadcast(2 * number + thread) }
    }
    while source.pendingUpdates > 0 || recorders.contains(where: { $0.updates.count < 2 * count }) {
      await Task.yield()
    }

    #expect(overlaps.value == 0)
    let order = recorders[0].updates
    #expect(order.count == 2 * count)
    for recorder in recorders { #expect(recorder.updates == order) }
    for thread in 0..<2 {
      let own = order.filter { $0 % 2 == thread }
      #expect(own == own.sorted())
    }
  }

  @Test(arguments: Operator.all)
  func `R3 what a callback sends waits until everybody has the current update`(subject: Operator) {
    let source = BroadcastSource<Int>()
    let publisher = subject.apply(source.publisher)
    let log = Shared<[String]>([])
    let first = publisher.subscribe { number in
      log.change { $0.append("a\(number)") }
      if number < 3 { source.broadcast(number + 1) }
      log.change { $0.append("-") }
    }
    let second = publisher.subscribe { number in log.change { $0.append("b\(number)") } }

    source.broadcast(1)

    #expect(log.value == ["a1", "-", "b1", "a2", "-", "b2", "a3", "-", "b3"])
    withExtendedLifetime((first, second)) {}
  }

  @Test(arguments: Operator.all)
  func `R3 a long chain of updates that send the next needs no stack`(subject: Operator) {
    let count = scaled(20_000)
    onThread(stackSize: 512 * 1024) {
      let source = BroadcastSource<Int>()
      let calls = Shared(0)
      let token = subject.apply(source.publisher).subscribe { number in
        calls.increment()
        if number < count { source.broadcast(number + 1) }
      }
      source.broadcast(1)
      #expect(calls.value == count)
      withExtendedLifetime(token) {}
    }
  }

  @Test(arguments: Operator.all)
  func `R5 a subscriber gets what is sent after it has subscribed`(subject: Operator) {
    let source = BroadcastSource<Int>()
    let publisher = subject.apply(source.publisher)
    let nested = Shared<Recorder<Int>?>(nil)
    let first = Recorder(publisher) { number in
      if number == 1 {
        source.broadcast(2)
        nested.value = Recorder(publisher)
        source.broadcast(3)
      }
    }

    source.broadcast(1)

    #expect(first.updates == [1, 2, 3])
    // What waits above a source of its own has not been sent to it yet.
    #expect(nested.value?.updates == (subject.isSource ? [2, 3] : [3]))
  }

  @Test(arguments: Operator.all)
  func `R6 a callback that ends its token is not called again`(subject: Operator) {
    let source = BroadcastSource<Int>()
    let token = Shared<Subscription?>(nil)
    let calls = Shared(0)
    token.value = subject.apply(source.publisher).subscribe { _ in
      calls.increment()
      source.broadcast(2)
      token.value?.invalidate()
    }

    source.broadcast(1)
    source.broadcast(3)

    #expect(calls.value == 1)
    #expect(token.value?.isSubscribed == false)
    token.value = nil
    #expect(source.subscriberCount == 0)
  }

  @Test(arguments: Operator.all)
  func `R7 invalidateAndWait returns at once inside, and when the call is over outside`(
    subject: Operator
  ) {
    let source = BroadcastSource<Int>()
    let publisher = subject.apply(source.publisher)
    let token = Shared<Subscription?>(nil)
    token.value = publisher.subscribe { _ in token.value?.invalidateAndWait() }
    source.broadcast(1)
    #expect(token.value?.isSubscribed == false)

    let hasBegun = Gate()
    let mayGoOn = Gate()
    let isOver = Shared(false)
    let slow = publisher.subscribe { _ in
      hasBegun.open()
      mayGoOn.wait()
      isOver.value = true
    }
    onThreads(2) { thread in
      if thread == 0 { return source.broadcast(2) }
      hasBegun.wait()
      slow.invalidate()
      mayGoOn.open()
      slow.invalidateAndWait()
    }
    #expect(isOver.value)
  }

  @Test(arguments: Operator.all)
  func `R11 R12 dropping the token releases the callback, and leaves the source`(
    subject: Operator
  ) {
    let source = BroadcastSource<Int>()
    weak var captured: Thing?
    do {
      var token: Subscription? = {
        let thing = Thing()
        captured = thing
        return subject.apply(source.publisher).subscribe { _ in withExtendedLifetime(thing) {} }
      }()
      source.broadcast(1)
      #expect(captured != nil)
      withExtendedLifetime(token) {}
      token = nil
    }
    #expect(captured == nil)
    #expect(source.subscriberCount == 0)
  }

  @Test(arguments: Operator.all)
  func `R13 R26 the end comes once, after the last update, and releases the callback`(
    subject: Operator
  ) {
    let events = Shared<[String]>([])
    weak var captured: Thing?
    var source: BroadcastSource<Int>? = BroadcastSource()
    let publisher = source.map { subject.apply($0.publisher) }
    let token = {
      let thing = Thing()
      captured = thing
      return publisher?.subscribe { [weak source] number in
        withExtendedLifetime(thing) { events.change { $0.append("\(number)") } }
        if number == 1 {
          source?.broadcast(2)
          source?.end()
        }
      } onEnd: {
        events.change { $0.append("end") }
      }
    }()
    source?.broadcast(1)
    #expect(events.value == ["1", "2", "end"])
    #expect(captured == nil)
    #expect(token?.isSubscribed == false)
    token?.invalidate()

    source = nil
    let late = publisher.map { Recorder($0) }
    #expect(late?.updates == [] && late?.hasEnded == true)
    #expect(events.value == ["1", "2", "end"])
  }

  @Test(arguments: Operator.all)
  func `R13 a source that goes away ends what is made of it`(subject: Operator) {
    var source: BroadcastSource<Int>? = BroadcastSource()
    let recorder = source.map { Recorder(subject.apply($0.publisher)) }
    source?.broadcast(1)
    source = nil
    #expect(recorder?.updates == [1])
    #expect(recorder?.hasEnded == true)
  }

  @Test(arguments: Operator.all)
  func `R26 the end does not come to who has left`(subject: Operator) {
    let source = BroadcastSource<Int>()
    let hasEnded = Shared(false)
    let token = subject.apply(source.publisher).subscribe {
      _ in
    } onEnd: {
      hasEnded.value = true
    }
    token.invalidate()
    source.end()
    #expect(!hasEnded.value)
  }

  @Test(arguments: Operator.all)
  func `R8 R10 subscribers come and go on two threads while two others send`(
    subject: Operator
  ) async {
    let source = BroadcastSource<Int>()
    do {
      let publisher = subject.apply(source.publisher)
      onThreads(4) { thread in
        for number in 1...scaled(300) {
          if thread < 2 {
            source.broadcast(number)
          } else {
            let recorder = Recorder(publisher) { _ in
              if number % 7 == 0 { Recorder(publisher).invalidate() }
            }
            if number % 2 == 0 { recorder.invalidate() }
          }
        }
      }
    }
    while source.pendingUpdates > 0 || source.subscriberCount > 0 { await Task.yield() }
  }
}
