import Foundation
import MiniRex
import MiniRexTesting
import TestSupport
import Testing

/// The rules under many threads, for many rounds, from one seed.
///
/// `MINIREX_SCALE` scales the rounds, and `MINIREX_SEED` repeats a failure.
@Suite(.heavy, .serialized) struct StormTests {
  let seed =
    ProcessInfo.processInfo.environment["MINIREX_SEED"].flatMap(UInt64.init) ?? 20_240_229

  /// Waits until a Swift task has delivered the remaining updates.
  private func settle(
    sourceLocation: SourceLocation = #_sourceLocation, _ isQuiet: () -> Bool
  ) async {
    await until(sourceLocation: sourceLocation, isQuiet)
  }

  @Test(arguments: [2, 4, 8])
  func `R1 R2 R4 all subscribers receive updates in the same order`(
    senders: Int
  ) async {
    for _ in 0..<scaled(10) {
      let perSender = 200
      let source = BroadcastSource<Int>()
      let overlaps = Shared(0)
      let inside = Shared(0)
      let recorders = (0..<5).map { _ in
        Recorder(source.publisher) { _ in
          if inside.increment() != 1 { overlaps.increment() }
          inside.increment(by: -1)
        }
      }

      onThreads(senders) { sender in
        for number in 0..<perSender { source.broadcast(sender * perSender + number) }
      }
      await settle { recorders.allSatisfy { $0.updates.count == senders * perSender } }

      let order = recorders[0].updates
      #expect(overlaps.value == 0)
      #expect(Set(order).count == senders * perSender)
      for recorder in recorders { #expect(recorder.updates == order) }
      for sender in 0..<senders {
        let own = order.filter { $0 / perSender == sender }
        #expect(own == own.sorted())
      }
    }
  }

  @Test
  func `R2 R5 a subscriber receives a contiguous run that starts when it joined`()
    async
  {
    struct Run: Sendable {
      /// For each sender, the last number sent before the subscription.
      var sentBefore: [Int]
      var begunAfter: [Int]
      var updates: [Int]
    }
    var checked = 0
    for round in 0..<scaled(30) {
      let source = BroadcastSource<Int>()
      let hasStarted = [Shared(0), Shared(1_000)]
      let sent = [Shared(0), Shared(1_000)]
      let reference = Recorder(source.publisher)
      let runs = Shared<[Run]>([])
      // On a busy machine, a thread could otherwise end before another begins.
      let hasJoined = Shared(false)
      @Sendable func areSending() -> Bool { sent.map(\.value) != [1_000, 2_000] }
      onThreads(4) { thread in
        if thread < 2 {
          while !hasJoined.value { sched_yield() }
          for _ in 0..<1_000 {
            let number = hasStarted[thread].increment()
            source.broadcast(number)
            sent[thread].value = number
          }
        } else {
          var random = SeededGenerator(seed: seed &+ UInt64(round * 8 + thread))
          for index in 0..<200 {
            let sentBefore = sent.map(\.value)
            let recorder = Recorder(source.publisher)
            let begunAfter = hasStarted.map(\.value)
            hasJoined.value = true
            while index == 0, recorder.updates.isEmpty, areSending() { sched_yield() }
            for _ in 0..<Int.random(in: 0..<50, using: &random) { _ = sent[0].value }
            recorder.invalidate()
            runs.change { runs in
              runs.append(
                Run(sentBefore: sentBefore, begunAfter: begunAfter, updates: recorder.updates))
            }
          }
        }
      }
      await settle { reference.updates.count == 2_000 }

      let place = Dictionary(
        uniqueKeysWithValues: reference.updates.enumerated().map { ($0.element, $0.offset) })
      for run in runs.value where !run.updates.isEmpty {
        checked += 1
        let places = run.updates.compactMap { place[$0] }
        #expect(places == Array(places[0]..<places[0] + run.updates.count), "seed \(seed)")
        for sender in 0..<2 {
          let own = run.updates.filter { ($0 > 1_000) == (sender == 1) }
          #expect(own.allSatisfy { $0 > run.sentBefore[sender] }, "seed \(seed)")
          if let next = place[run.begunAfter[sender] + 1], (run.begunAfter[sender] + 1) % 1_000 != 1
          {
            #expect(places[0] <= next, "seed \(seed)")
          }
        }
      }
    }
    #expect(checked > 0)
  }

  @Test
  func
    `R6 R8 R11 after invalidate, at most the chosen callback runs`()
    async
  {
    for round in 0..<scaled(200) {
      let source = BroadcastSource<Int>()
      let released = Shared(0)
      let late = Shared(0)
      let count = 16
      let subscriptions = (0..<count).map { _ in
        let witness = Witness { released.increment() }
        let ended = Shared(0)
        let subscription = Shared<Subscription?>(nil)
        subscription.value = source.publisher.subscribe { _ in
          witness.touch()
          if ended.value > 0, ended.increment() > 2 { late.increment() }
        }
        return (subscription, ended)
      }
      onThreads(4) { thread in
        if thread == 0 {
          for number in 0..<50 { source.broadcast(number) }
        } else {
          var random = SeededGenerator(seed: seed &+ UInt64(round * 8 + thread))
          for (subscription, ended) in subscriptions.shuffled(using: &random) {
            subscription.value?.invalidate()
            ended.change { $0 = max($0, 1) }
            subscription.value?.invalidate()
          }
        }
      }

      #expect(late.value == 0, "seed \(seed)")
      #expect(released.value == count, "seed \(seed)")
      #expect(source.subscriberCount == 0)
    }
  }

  @Test func `R7 after invalidateAndWait no callback is running`() {
    for _ in 0..<scaled(500) {
      let source = BroadcastSource<Int>()
      let isFinished = Shared(false)
      let late = Shared(0)
      let subscription = source.publisher.subscribe { _ in
        for _ in 0..<20 where isFinished.value { late.increment() }
      }
      let others = (0..<3).map { _ in source.publisher.subscribe { _ in } }
      onThreads(3) { thread in
        if thread < 2 {
          for number in 0..<20 { source.broadcast(number) }
        } else {
          subscription.invalidateAndWait()
          isFinished.value = true
        }
      }
      #expect(late.value == 0)
      withExtendedLifetime(others) {}
    }
  }

  @Test func `R7 invalidateAndWait during the end of its source waits for onEnd`() {
    let late = Shared(0)
    let cases = (0..<scaled(4_000)).map { _ in
      let isFinished = Shared(false)
      let source = BroadcastSource<Int>()
      let subscription = source.publisher.subscribe { _ in
      } onEnd: {
        for _ in 0..<100 where isFinished.value { late.increment() }
      }
      return (source: source, subscription: subscription, isFinished: isFinished)
    }
    let steps = [Shared(0), Shared(0)]
    onThreads(2) { thread in
      for (index, (source, subscription, isFinished)) in cases.enumerated() {
        steps[thread].increment()
        while steps[1 - thread].value <= index {}
        if thread == 0 {
          source.end()
        } else {
          for _ in 0..<index % 16 { _ = isFinished.value }
          subscription.invalidateAndWait()
          isFinished.value = true
        }
      }
    }
    #expect(late.value == 0)
  }

  @Test func `R7 async invalidateAndWait returns under load`() async {
    for _ in 0..<scaled(200) {
      let source = BroadcastSource<Int>()
      let isFinished = Shared(false)
      let late = Shared(0)
      let subscription = source.publisher.subscribe { _ in
        if isFinished.value { late.increment() }
      }
      await withTaskGroup { group in
        for _ in 0..<2 {
          group.addTask { for number in 0..<20 { source.broadcast(number) } }
        }
        group.addTask {
          await subscription.invalidateAndWait()
          isFinished.value = true
        }
      }
      #expect(late.value == 0)
    }
  }

  @Test func `R10 sources that forward to each other come to rest`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      for _ in 0..<scaled(6) {
        let sources = (0..<5).map { _ in BroadcastSource<Int>() }
        let calls = Shared(0)
        let bag = SubscriptionBag()
        for (index, source) in sources.enumerated() {
          for step in [1, 2] {
            source.publisher.subscribe { number in
              calls.increment()
              if number > 0 { sources[(index + step) % 5].broadcast(number - 1) }
            }.store(in: bag)
          }
        }
        onThreads(4) { thread in
          for _ in 0..<20 { sources[thread].broadcast(6) }
        }
        // An update of n makes 2 callbacks, and each of them sends n - 1 unless n is 0.
        let expected = 4 * 20 * (1...7).reduce(0) { $0 + (1 << $1) }
        await until { calls.value >= expected }
        precondition(calls.value == expected)
        bag.invalidate()
      }
    }
  }

  @Test func `R14 R16 at rest, every subscriber's last update equals the value`() async {
    for round in 0..<scaled(30) {
      let property = PublishedProperty(-1)
      let permanent = Recorder(property.publisher)
      let mapped = Recorder(property.publisher.map { $0 / 2 })
      let joined = Shared<[Recorder<Int>]>([])
      onThreads(4) { thread in
        var random = SeededGenerator(seed: seed &+ UInt64(round * 8 + thread))
        for number in 0..<100 {
          if thread < 2 {
            if Bool.random(using: &random) {
              property.value = Int.random(in: 0..<8, using: &random)
            } else {
              property.modify { $0 = (($0 + number) % 8 + 8) % 8 }
            }
          } else {
            let recorder = Recorder(property.publisher)
            if number.isMultiple(of: 10) { joined.change { $0.append(recorder) } }
          }
        }
      }
      await settle { property.pendingUpdates == 0 && permanent.updates.last == property.value }

      let value = property.value
      #expect(mapped.updates.last == value / 2, "seed \(seed)")
      for recorder in joined.value {
        #expect(recorder.updates.last == value, "seed \(seed)")
        #expect(isSuffixLike(recorder.updates, of: permanent.updates), "seed \(seed)")
      }
    }
  }

  /// Compares the updates after the first value with the end of `all`.
  private func isSuffixLike(_ late: [Int], of all: [Int]) -> Bool {
    late.dropFirst().elementsEqual(all.suffix(late.count - 1))
  }

  @Test func `R24 a sender delivers at most 1,000 updates of other threads`()
    async
  {
    for _ in 0..<scaled(5) {
      let source = BroadcastSource<Int>()
      let captured = Shared<ThreadID?>(nil)
      let isCaptured = Gate()
      let ofOthers = Shared(0)
      let isFree = Shared(false)
      let calls = Shared(0)
      let subscription = source.publisher.subscribe { number in
        calls.increment()
        if number == -1 { isCaptured.open() }
        if number >= 0, captured.value == .current, !isFree.value { ofOthers.increment() }
      }
      let sent = Shared(0)
      onThreads(3) { thread in
        if thread == 0 {
          captured.value = .current
          source.broadcast(-1)
          isFree.value = true
        } else {
          isCaptured.wait()
          while !isFree.value || sent.value < 3_000 {
            sent.increment()
            source.broadcast(thread)
          }
        }
      }
      await settle { calls.value == sent.value + 1 }

      #expect(ofOthers.value <= 1_000)
      withExtendedLifetime(subscription) {}
    }
  }

  @Test func `R13 R26 a source that ends under load finishes every subscriber once`()
    async
  {
    for round in 0..<scaled(300) {
      let source = Shared<BroadcastSource<Int>?>(BroadcastSource())
      let publisher = source.value.map(\.publisher) ?? .never
      let ends = Shared(0)
      let expected = Shared(0)
      let afterEnd = Shared(0)
      let bag = SubscriptionBag()
      onThreads(4) { thread in
        var random = SeededGenerator(seed: seed &+ UInt64(round * 8 + thread))
        for number in 0..<20 {
          switch thread {
          case 0:
            if number == 10 { source.value = nil }
            source.value?.broadcast(number)
          case 1:
            source.value?.broadcast(number)
          default:
            let hasEnded = Shared(false)
            let isMine = Bool.random(using: &random)
            let subscription = publisher.subscribe { _ in
              if hasEnded.value { afterEnd.increment() }
            } onEnd: {
              hasEnded.value = true
              if !isMine { ends.increment() }
            }
            if isMine {
              subscription.invalidate()
            } else {
              expected.increment()
              subscription.store(in: bag)
            }
          }
        }
      }
      await settle { ends.value == expected.value }

      #expect(afterEnd.value == 0, "seed \(seed)")
      #expect(bag.count == 0)
    }
  }

  @Test func `R1 R16 merge and combineLatest stay serial while their inputs race`() async {
    for _ in 0..<scaled(100) {
      let inputs = (0..<3).map { _ in PublishedProperty(0) }
      let inside = Shared(0)
      let overlaps = Shared(0)
      let react: @Sendable (Int) -> Void = { _ in
        if inside.increment() != 1 { overlaps.increment() }
        inside.increment(by: -1)
      }
      let combined = Recorder(
        combineLatest(inputs[0].publisher, inputs[1].publisher, inputs[2].publisher) {
          $0 * 10_000 + $1 * 100 + $2
        }, react)
      let merged = Recorder(merge(inputs.map(\.publisher)))
      onThreads(3) { thread in
        for number in 1..<50 { inputs[thread].value = number }
      }
      await settle { combined.updates.last == 494_949 && merged.updates.count == 3 + 3 * 49 }

      #expect(overlaps.value == 0)
      #expect(combined.updates.first == 0)
    }
  }

  @Test func `R20 dispatch to a queue or an actor preserves order`() async {
    actor Log {
      var numbers: [Int] = []
      func append(_ number: Int) { numbers.append(number) }
    }
    for _ in 0..<scaled(20) {
      let source = BroadcastSource<Int>()
      let log = Log()
      let onMain = Shared<[Int]>([])
      let subscription = source.publisher.subscribe(isolatedTo: log) { $0.append($1) }
      let main = await source.publisher.subscribeOnMain { number in
        onMain.change { $0.append(number) }
      }
      let reference = Recorder(source.publisher)
      onThreads(3) { thread in
        for number in 0..<300 { source.broadcast(thread * 300 + number) }
      }
      await settle { reference.updates.count == 900 && onMain.value.count == 900 }
      await until { await log.numbers.count >= 900 }

      #expect(await log.numbers == reference.updates)
      #expect(onMain.value == reference.updates)
      withExtendedLifetime((subscription, main)) {}
    }
  }
}
