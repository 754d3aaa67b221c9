import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// Publishers as somebody could write them, each with one mistake.
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

  /// Those that anybody can write.
  static let written: [BrokenPublisher] = [
    BrokenPublisher("R2", "two senders walk through its list of subscribers at once") {
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
    BrokenPublisher("R3", "it walks through its list while it walks through it") {
      let list = Subscribers()
      return PublisherUnderTest(list.publisher) { number in
        for receive in list.all { receive(number) }
      }
    },
    BrokenPublisher("R2", "a memory is shared by all subscribers, so that one is enough") {
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
    BrokenPublisher("R2", "it has subscribed twice to what it is made of") {
      let source = BroadcastSource<Int>()
      return PublisherUnderTest(merge(source.publisher, source.publisher), drivenBy: source)
    },
    BrokenPublisher("R2", "every third update is lost") {
      let source = BroadcastSource<Int>()
      let publisher = source.publisher.filter { $0 % 3 != 0 }
      return PublisherUnderTest(publisher, drivenBy: source)
    },
    BrokenPublisher("R4", "its list of subscribers is called from the end") {
      let list = Subscribers()
      let line = Line { number in
        for receive in list.all.reversed() { receive(number) }
      }
      return PublisherUnderTest(list.publisher) { line.send($0) }
    },
    BrokenPublisher("R5", "it repeats what was sent before") {
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
    BrokenPublisher("R2", "it subscribes when it gets round to it") {
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
    BrokenPublisher("R6", "it holds its lock while it calls, and takes it when one leaves") {
      let list = Subscribers()
      let lock = Latch()
      let publisher = Broadcaster<Int> { receive in
        let token = list.publisher.subscribe(receive)
        return Subscription {
          lock.withLatch { token.invalidate() }
        }
      }
      let line = Line { number in
        lock.withLatch { for receive in list.all { receive(number) } }
      }
      return PublisherUnderTest(publisher) { line.send($0) }
    },
    BrokenPublisher("R8", "who leaves takes the last one's place in the list") {
      let list = Shared<[@Sendable (Int) -> Void]>([])
      let publisher = Broadcaster<Int> { receive in
        list.append(receive)
        return Subscription { _ = list.change { $0.popLast() } }
      }
      let line = Line { number in for receive in list.value { receive(number) } }
      return PublisherUnderTest(publisher) { line.send($0) }
    },
    BrokenPublisher("R9", "it holds its lock while it calls, and takes it to send") {
      let list = Subscribers()
      let lock = Latch()
      return PublisherUnderTest(list.publisher) { number in
        lock.withLatch { for receive in list.all { receive(number) } }
      }
    },
    BrokenPublisher("R12", "it never leaves what it is made of") {
      let source = BroadcastSource<Int>()
      let publisher = Broadcaster<Int> { receive in
        source.publisher.subscribe(receive).detached()
        return Subscription {}
      }
      return PublisherUnderTest(publisher, drivenBy: source)
    },
    BrokenPublisher("R16", "its first value is the one it was made with") {
      let source = BroadcastSource<Int>()
      let publisher = PublishedValue(initial: { 0 }, changes: source.publisher)
      return PublisherUnderTest(publisher, drivenBy: source)
    },
    BrokenPublisher("R26", "it keeps its subscribers when it has ended") {
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
    BrokenPublisher("R19", "its work can be started only once") {
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

  /// Those that only the library could write, because it alone is trusted.
  static let forged: [BrokenPublisher] = [
    BrokenPublisher("R1", "its calls overlap") {
      let list = Subscribers()
      let publisher = Broadcaster<Int>(current: { nil }) { list.add($0) }
      return PublisherUnderTest(publisher) { number in
        for receive in list.all { receive(number) }
      }
    },
    BrokenPublisher("R7", "whoever waits for its call does not") {
      let source = BroadcastSource<Int>()
      let publisher = Broadcaster<Int>(current: { nil }) { receive in
        let token = source.publisher.subscribe(receive)
        return Subscription { token.invalidate() }
      }
      return PublisherUnderTest(publisher, drivenBy: source)
    },
    BrokenPublisher("R11", "it keeps the callback of who has left") {
      let source = BroadcastSource<Int>()
      let kept = Shared<[@Sendable (Int) -> Void]>([])
      let publisher = Broadcaster<Int>(current: { nil }) { receive in
        kept.append(receive)
        return source.publisher.subscribe(receive)
      }
      return PublisherUnderTest(publisher) { number in
        withExtendedLifetime(kept) { source.broadcast(number) }
      }
    },
    BrokenPublisher("R28", "its first value comes with the first change") {
      let property = PublishedProperty(0)
      let publisher = PublishedValue<Int>(current: { property.value }) { receive in
        property.publisher.dropFirst().subscribe(receive)
      }
      return PublisherUnderTest(publisher, drivenBy: property)
    },
    BrokenPublisher("R14", "it calls twice with its first value") {
      let property = PublishedProperty(0)
      let publisher = PublishedValue<Int>(current: { property.value }) { receive in
        receive(property.value)
        return property.publisher.subscribe(receive)
      }
      return PublisherUnderTest(publisher, drivenBy: property)
    },
    BrokenPublisher("R18", "it has a second result") {
      let source = BroadcastSource<Int>()
      let task = PublishedTask<Int, Never>(current: { nil }) { receive in
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

@Suite(.timeLimit(.minutes(20))) struct BrokenPublisherTests {
  @Test(arguments: BrokenPublisher.written + BrokenPublisher.forged)
  func `a broken publisher is found by the rule that it breaks`(broken: BrokenPublisher) async {
    let report = await lawReport(on: broken.make) { $0.rule == broken.rule }
    #expect(report?.rule == broken.rule, "\(report?.description ?? "not found")")
  }

  @Test func `a report on what leaves updates out for everybody says how to test that`() async {
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
    let leavingOut = await report { numbers in numbers.filter { $0.isMultiple(of: 2) } }
    #expect(leavingOut.contains("If it leaves updates out on purpose, let it pass on all"))
    let sharing = await report { numbers in
      let last = Shared(0)
      return numbers.filter { number in
        last.change { last in
          defer { last = number }
          return number != last
        }
      }
    }
    #expect(!sharing.contains("on purpose"))
    let changing = await report { numbers in numbers.map { -$0 } }
    #expect(!changing.contains("on purpose"))
  }

  @Test func `a report says what came, what was expected, and draws both`() async {
    let report = await lawReport {
      let source = BroadcastSource<Int>()
      return PublisherUnderTest(source.publisher.map { $0 % 3 }, drivenBy: source)
    } until: {
      $0.rule == "R2"
    }
    #expect(
      report?.description == """
        R2 is broken: All subscribers get every update once, and in the same order.
        Script: three subscribers, three updates.
        'a' was called with 1, 2, 0; expected: 1, 2, 3.

        sent         -123
        a            ^120
        b            ^120
        c            ^120
        """)
  }
}

/// A list of subscribers as one writes it: locked, and called outside the lock.
private final class Subscribers: Sendable {
  private let list = Shared<[(id: Int, receive: @Sendable (Int) -> Void)]>([])
  private let lastID = Shared(0)

  var all: [@Sendable (Int) -> Void] { list.value.map(\.receive) }

  var publisher: Broadcaster<Int> { Broadcaster { self.add($0) } }

  func add(_ receive: @escaping @Sendable (Int) -> Void) -> Subscription {
    let id = lastID.increment()
    list.change { $0.append((id, receive)) }
    return Subscription {
      // Released after the lock, since that tells the end.
      _ = self.list.change { list in
        list.firstIndex { $0.id == id }.map { list.remove(at: $0) }
      }
    }
  }
}

/// Does one after the other, whoever sends: the mistake is elsewhere.
private final class Line: Sendable {
  private let source = BroadcastSource<Int>()
  private let token: Subscription

  init(_ body: @escaping @Sendable (Int) -> Void) {
    token = source.publisher.subscribe(body)
  }

  func send(_ number: Int) { source.broadcast(number) }
}

extension [ThreadID: [Int]] {
  /// What this thread has to do next; `nil` when it has done all.
  fileprivate mutating func next() -> Int? {
    guard let numbers = self[.current], let first = numbers.first else {
      self[.current] = nil
      return nil
    }
    self[.current] = Array(numbers.dropFirst())
    return first
  }
}

/// A lock that its own thread waits for, too.
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

  /// What hangs here hangs for ever, so it had better not be busy.
  private func pause() { Thread.sleep(forTimeInterval: 0.01) }
}
