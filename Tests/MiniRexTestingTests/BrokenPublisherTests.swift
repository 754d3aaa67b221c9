import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// A publisher with one bug.
struct BrokenPublisher: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let rule: String
  let make: @Sendable () -> PublisherUnderTest

  init(
    _ rule: String, _ description: String, _ make: @escaping @Sendable () -> PublisherUnderTest
  ) {
    self.rule = rule
    testDescription = description
    self.make = make
  }

  /// Publishers that a user of the library can write.
  static let written: [BrokenPublisher] = [
    BrokenPublisher("R2", "two senders call its subscribers concurrently") {
      let list = Subscribers()
      let waiting = Shared<[ThreadID: [Int]]>([:])
      return PublisherUnderTest(list.publisher) { number in
        let isInside = waiting.change { waiting in
          defer { waiting[.current, default: []].append(number) }
          return waiting[.current] != nil
        }
        if isInside { return }
        while let next = waiting.change({ $0.next() }) {
          for receive in list.all { receive(next) }
        }
      }
    },
    BrokenPublisher("R3", "a re-entrant send calls its subscribers immediately") {
      let list = Subscribers()
      return PublisherUnderTest(list.publisher) { number in
        for receive in list.all { receive(number) }
      }
    },
    BrokenPublisher("R2", "all subscribers share the memory of a filter") {
      let source = BroadcastSource<Int>()
      let last = Shared(0)
      let publisher = source.publisher.filter { number in
        last.change { last in
          defer { last = number }
          return last != number
        }
      }
      return PublisherUnderTest(publisher, drivenBy: source)
    },
    BrokenPublisher("R2", "it subscribes twice to its source") {
      let source = BroadcastSource<Int>()
      return PublisherUnderTest(merge(source.publisher, source.publisher), drivenBy: source)
    },
    BrokenPublisher("R2", "it drops every third update") {
      let source = BroadcastSource<Int>()
      let publisher = source.publisher.filter { $0 % 3 != 0 }
      return PublisherUnderTest(publisher, drivenBy: source)
    },
    BrokenPublisher("R4", "it calls its subscribers in reverse order") {
      let list = Subscribers()
      let line = Line { number in
        for receive in list.all.reversed() { receive(number) }
      }
      return PublisherUnderTest(list.publisher) { line.send($0) }
    },
    BrokenPublisher("R5", "it repeats the last update to a late subscriber") {
      let source = BroadcastSource<Int>()
      let last = Shared<Int?>(nil)
      let publisher = Broadcaster<Int> { receive in
        if let last = last.value { receive(last) }
        return source.publisher.subscribe(receive)
      }
      return PublisherUnderTest(publisher) { number in
        last.value = number
        source.broadcast(number)
      }
    },
    BrokenPublisher("R2", "it subscribes to its source after subscribe returns") {
      let source = BroadcastSource<Int>()
      let starts = Shared<[@Sendable () -> Void]>([])
      let publisher = Broadcaster<Int> { receive in
        let bag = SubscriptionBag()
        starts.append { source.publisher.subscribe(receive).store(in: bag) }
        return Subscription { bag.invalidate() }
      }
      return PublisherUnderTest(publisher) { number in
        source.broadcast(number)
        let waiting = starts.change { starts in
          defer { starts = [] }
          return starts
        }
        for start in waiting { start() }
      }
    },
    BrokenPublisher("R6", "it holds its lock during callbacks, and takes it to cancel") {
      let list = Subscribers()
      let lock = Latch()
      let publisher = Broadcaster<Int> { receive in
        let subscription = list.publisher.subscribe(receive)
        return Subscription {
          lock.withLatch { subscription.invalidate() }
        }
      }
      let line = Line { number in
        lock.withLatch { for receive in list.all { receive(number) } }
      }
      return PublisherUnderTest(publisher) { line.send($0) }
    },
    BrokenPublisher("R8", "canceling removes the last subscriber") {
      let list = Shared<[@Sendable (Int) -> Void]>([])
      let publisher = Broadcaster<Int> { receive in
        list.append(receive)
        return Subscription { _ = list.change { $0.popLast() } }
      }
      let line = Line { number in for receive in list.value { receive(number) } }
      return PublisherUnderTest(publisher) { line.send($0) }
    },
    BrokenPublisher("R9", "it holds its lock during callbacks, and takes it to send") {
      let list = Subscribers()
      let lock = Latch()
      return PublisherUnderTest(list.publisher) { number in
        lock.withLatch { for receive in list.all { receive(number) } }
      }
    },
    BrokenPublisher("R12", "it never cancels its upstream subscription") {
      let source = BroadcastSource<Int>()
      let publisher = Broadcaster<Int> { receive in
        source.publisher.subscribe(receive).detached()
        return Subscription {}
      }
      return PublisherUnderTest(publisher, drivenBy: source)
    },
    BrokenPublisher("R16", "its current value is always its initial value") {
      let source = BroadcastSource<Int>()
      let publisher = PublishedValue(initial: { 0 }, changes: source.publisher)
      return PublisherUnderTest(publisher, drivenBy: source)
    },
    BrokenPublisher("R26", "it retains its subscribers after its end") {
      let list = Subscribers()
      let isOver = Shared(false)
      let line = Line { number in
        if !isOver.value { for receive in list.all { receive(number) } }
      }
      return PublisherUnderTest(list.publisher) {
        line.send($0)
      } end: {
        isOver.value = true
      }
    },
    BrokenPublisher("R19", "its work starts only once") {
      let finish = Shared<(@Sendable (Result<Int, Never>) -> Void)?>(nil)
      let task = PublishedTask<Int, Never> { finishRun in
        finish.change { first in
          if first == nil { first = finishRun }
        }
        return Subscription {}
      }
      return PublisherUnderTest(task, finish: { finish.value?(.success($0)) })
    },
    BrokenPublisher("R18", "it finishes without its result") {
      let source = ProgressiveTaskSource<Int, Int, Never>()
      let task = ProgressiveTask<Int, Int, Never> { report, finish in
        source.publisher.subscribe { update in
          if case .progress(let number) = update { report(number) }
        }
      }
      return PublisherUnderTest(task, drivenBy: source)
    },
  ]

  /// Publishers that bypass the library's protection with a package initializer.
  static let forged: [BrokenPublisher] = [
    BrokenPublisher("R1", "its callbacks overlap") {
      let list = Subscribers()
      let publisher = Broadcaster<Int>(value: .none) { list.add($0) }
      return PublisherUnderTest(publisher) { number in
        for receive in list.all { receive(number) }
      }
    },
    BrokenPublisher("R7", "invalidateAndWait does not wait for its callback") {
      let source = BroadcastSource<Int>()
      let publisher = Broadcaster<Int>(value: .none) { receive in
        let subscription = source.publisher.subscribe(receive)
        return Subscription { subscription.invalidate() }
      }
      return PublisherUnderTest(publisher, drivenBy: source)
    },
    BrokenPublisher("R11", "it retains the callback of a canceled subscription") {
      let source = BroadcastSource<Int>()
      let kept = Shared<[@Sendable (Int) -> Void]>([])
      let publisher = Broadcaster<Int>(value: .none) { receive in
        kept.append(receive)
        return source.publisher.subscribe(receive)
      }
      return PublisherUnderTest(publisher) { number in
        withExtendedLifetime(kept) { source.broadcast(number) }
      }
    },
    BrokenPublisher("R28", "its first value arrives with the first change") {
      let property = PublishedProperty(0)
      let publisher = PublishedValue<Int>(value: .untracked { property.value }) { receive in
        property.publisher.dropFirst().subscribe(receive)
      }
      return PublisherUnderTest(publisher, drivenBy: property)
    },
    BrokenPublisher("R14", "it emits its first value twice") {
      let property = PublishedProperty(0)
      let publisher = PublishedValue<Int>(value: .untracked { property.value }) { receive in
        receive(property.value)
        return property.publisher.subscribe(receive)
      }
      return PublisherUnderTest(publisher, drivenBy: property)
    },
    BrokenPublisher("R18", "it emits a second result") {
      let source = BroadcastSource<Int>()
      let task = PublishedTask<Int, Never>(value: .none) { receive in
        source.publisher.subscribe { receive(.success($0)) }
      }
      return PublisherUnderTest(
        task,
        finish: { number in
          source.broadcast(number)
          source.broadcast(number + 1)
          source.end()
        })
    },
  ]
}

@Suite(.light) struct BrokenPublisherTests {
  @Test(arguments: BrokenPublisher.written + BrokenPublisher.forged)
  func `expectPublisherLaws reports the rule that a publisher breaks`(broken: BrokenPublisher) async
  {
    let report = await lawReport(on: broken.make) { $0.rule == broken.rule }
    #expect(report?.rule == broken.rule, "\(report?.description ?? "not found")")
  }

  @Test func `a report about an operator that drops updates has advice`() async {
    func report(
      on publisher: @escaping @Sendable (Broadcaster<Int>) -> Broadcaster<Int>
    ) async -> String {
      let report = await lawReport {
        let source = BroadcastSource<Int>()
        return PublisherUnderTest(publisher(source.publisher), drivenBy: source)
      } until: {
        $0.rule == "R2"
      }
      return report?.description ?? ""
    }
    let dropping = await report { numbers in numbers.filter { $0.isMultiple(of: 2) } }
    #expect(dropping.contains("If the operator drops updates by design"))
    let sharing = await report { numbers in
      let last = Shared(0)
      return numbers.filter { number in
        last.change { last in
          defer { last = number }
          return number != last
        }
      }
    }
    #expect(!sharing.contains("by design"))
    let changing = await report { numbers in numbers.map { -$0 } }
    #expect(!changing.contains("by design"))
  }

  @Test func `a report lists and draws the received and expected updates`() async {
    let report = await lawReport {
      let source = BroadcastSource<Int>()
      return PublisherUnderTest(source.publisher.map { $0 % 3 }, drivenBy: source)
    } until: {
      $0.rule == "R2"
    }
    #expect(
      report?.description == """
        R2 is broken: All subscribers receive each update once, in the same order.
        Script: three subscribers, three updates.
        'a' received 1, 2, 0. Expected: 1, 2, 3.

        sent         -123
        a            ^120
        b            ^120
        c            ^120
        """)
  }
}

/// A locked list of subscribers, called outside the lock.
private final class Subscribers: Sendable {
  private let list = Shared<[(id: Int, receive: @Sendable (Int) -> Void)]>([])
  private let lastID = Shared(0)

  var all: [@Sendable (Int) -> Void] { list.value.map(\.receive) }

  var publisher: Broadcaster<Int> { Broadcaster { self.add($0) } }

  func add(_ receive: @escaping @Sendable (Int) -> Void) -> Subscription {
    let id = lastID.increment()
    list.change { $0.append((id, receive)) }
    return Subscription {
      // Release the callback outside the lock, because its release finishes downstream subscriptions.
      _ = self.list.change { list in
        list.firstIndex { $0.id == id }.map { list.remove(at: $0) }
      }
    }
  }
}

/// Serializes sends, so that the bug is elsewhere.
private final class Line: Sendable {
  private let source = BroadcastSource<Int>()
  private let subscription: Subscription

  init(_ body: @escaping @Sendable (Int) -> Void) {
    subscription = source.publisher.subscribe(body)
  }

  func send(_ number: Int) { source.broadcast(number) }
}

extension [ThreadID: [Int]] {
  /// Returns the next number of this thread, or `nil` after the last.
  fileprivate mutating func next() -> Int? {
    guard let numbers = self[.current], let first = numbers.first else {
      self[.current] = nil
      return nil
    }
    self[.current] = Array(numbers.dropFirst())
    return first
  }
}

/// A non-recursive lock that blocks its owner.
private final class Latch: Sendable {
  private let isHeld = Shared(false)

  func withLatch(_ body: () -> Void) {
    while isHeld.change({ isHeld in
      defer { isHeld = true }
      return isHeld
    }) { pause() }
    body()
    isHeld.value = false
  }

  /// Sleeps, because a deadlocked thread stays here until the process exits.
  private func pause() { Thread.sleep(forTimeInterval: 0.01) }
}
