import Foundation
import MiniRex
import Synchronization
import TestSupport
import Testing

/// Real threads against the lock-free part of a delivery.
@Suite(.heavy, .serialized) struct LitmusStorms {
  @Test(arguments: [2, 3, 4], [false, true])
  func `R2 one thread at a time is inside the turnstile`(
    threads: Int, isOpen: Bool
  ) {
    let storm = TurnstileStorm(sends: scaled(20_000), isOpen: isOpen)

    onThreads(threads) { _ in storm.sendAll() }

    #expect(storm.overlaps == 0)
    #expect(storm.delivered == threads * storm.sends)
    #expect(storm.rest == 0)
    #expect(storm.phase == Turnstile.resting)
  }

  @Test(arguments: [false, true])
  func `R11 a signaled delivering thread acknowledges the signal before it rests`(isOpen: Bool) {
    let storm = TurnstileStorm(sends: scaled(100_000), isOpen: isOpen)
    let unacknowledged = Atomic(0)
    let isFinished = Atomic(false)

    onThreads(2) { thread in
      if thread == 0 {
        storm.sendAll()
        isFinished.store(true, ordering: .relaxed)
      }
      while !isFinished.load(ordering: .relaxed) {
        if !storm.signalAndAwaitAcknowledgment() { unacknowledged.add(1, ordering: .relaxed) }
      }
    }

    #expect(unacknowledged.load(ordering: .relaxed) == 0)
    #expect(storm.overlaps == 0)
    #expect(storm.delivered == storm.sends)
  }

  @Test(arguments: [2, 3, 4])
  func `R6 after a cancellation, at most one chosen callback starts`(threads: Int) {
    for round in 0..<scaled(700) {
      let source = BroadcastSource<Int>()
      let subscribers = (0..<4).map { _ in CanceledSubscriber(source.publisher) }

      onThreads(threads) { thread in
        if thread == 0 {
          for update in 0..<8 { source.broadcast(update) }
        } else {
          for index in stride(from: round % 2, to: subscribers.count, by: threads - 1) {
            subscribers[index].end()
          }
        }
      }

      let late = subscribers.map(\.lateStarts)
      #expect(late.allSatisfy { $0 <= 1 }, "round \(round)")
      for subscriber in subscribers { subscriber.end() }
      #expect(subscribers.allSatisfy { $0.releases == 1 }, "round \(round)")
      #expect(subscribers.allSatisfy { $0.callsAfterRelease == 0 }, "round \(round)")
    }
  }

  @Test func `R6 and R11 no callback runs after its release while subscribers join and cancel`() {
    let source = BroadcastSource<Int>()
    let faults = Atomic(0)
    let isFinished = Atomic(false)

    onThreads(3) { thread in
      if thread == 0 {
        for update in 0..<scaled(10_000) { source.broadcast(update) }
        isFinished.store(true, ordering: .relaxed)
        return
      }
      var subscribers: [CanceledSubscriber] = []
      while !isFinished.load(ordering: .relaxed) {
        subscribers.append(CanceledSubscriber(source.publisher))
        if subscribers.count < 30 { continue }
        for subscriber in subscribers { subscriber.end() }
        // Their last callbacks, and so their releases, may still be in progress on the sending
        // thread.
        faults.add(subscribers.count { $0.lateStarts > 1 }, ordering: .relaxed)
        subscribers = []
      }
      for subscriber in subscribers { subscriber.end() }
    }

    #expect(faults.load(ordering: .relaxed) == 0)
    #expect(source.subscriberCount == 0)
    #expect(source.pendingUpdates == 0)
  }
}

/// A minimal delivery: a queue, a lock, and the turnstile under test.
///
/// Unchecked: the turnstile guards `deliveries`.
private final class TurnstileStorm: @unchecked Sendable {
  private struct State {
    var waiting = 0
    var signals = 0
    var acknowledged = 0
  }

  let sends: Int
  private let turnstile: Turnstile
  private let isOpen: Bool
  private let state = Lock(State())
  private let inside = Atomic(0)
  private let overlapCount = Atomic(0)
  private var deliveries = 0

  init(sends: Int, isOpen: Bool) {
    self.sends = sends
    self.isOpen = isOpen
    turnstile = Turnstile(isOpen: isOpen)
  }

  var overlaps: Int { overlapCount.load(ordering: .relaxed) }
  var delivered: Int { deliveries }
  var rest: Int { state.withLock { $0.waiting } }
  var phase: UInt { turnstile.phase.load(ordering: .relaxed) }

  func sendAll() {
    for number in 0..<sends {
      send()
      if number.isMultiple(of: 2) { closeBriefly() }
    }
  }

  private func send() {
    let thread = ThreadID.current
    if isOpen, turnstile.enter(as: thread) {
      deliver()
      if !turnstile.leave(as: thread) { deliverQueued() }
      return
    }
    let hasEntered = state.withLock { state in
      while !turnstile.enter() {
        if turnstile.signal().hasDeliverer {
          state.waiting += 1
          return false
        }
      }
      return true
    }
    if !hasEntered { return }
    deliver()
    if !turnstile.leave() { deliverQueued() }
  }

  private func deliverQueued() {
    while true {
      let continues = state.withLock { state in
        state.acknowledged = state.signals
        if state.waiting == 0 {
          turnstile.rest()
          return false
        }
        state.waiting -= 1
        turnstile.acknowledge(expectingMore: state.waiting > 0)
        return true
      }
      if !continues { return }
      deliver()
      if turnstile.leave() { return }
    }
  }

  private func deliver() {
    exclusively { deliveries += 1 }
  }

  /// Closes the turnstile, as a thread that changes the table at rest does.
  private func closeBriefly() {
    if !isOpen { return }
    state.withLock { _ in
      if !turnstile.close() { return }
      exclusively {}
      turnstile.rest()
    }
  }

  private func exclusively(_ body: () -> Void) {
    if inside.add(1, ordering: .relaxed).newValue != 1 {
      overlapCount.add(1, ordering: .relaxed)
    }
    body()
    inside.subtract(1, ordering: .relaxed)
  }

  /// - Returns: `false` if the delivering thread was signaled and rested without acknowledging.
  func signalAndAwaitAcknowledgment() -> Bool {
    let signal: Int? = state.withLock { state in
      guard turnstile.signal().hasDeliverer else { return nil }
      state.signals += 1
      return state.signals
    }
    guard let signal else { return true }
    while true {
      let (isAcknowledged, isResting) = state.withLock { state in
        (
          state.acknowledged >= signal,
          turnstile.phase.load(ordering: .acquiring) == Turnstile.resting
        )
      }
      if isAcknowledged { return true }
      if isResting { return false }
      sched_yield()
    }
  }
}

/// A subscriber that counts callbacks after its cancellation and after its release.
private final class CanceledSubscriber: Sendable {
  private struct Counts: ~Copyable {
    let hasEnded = Atomic(false)
    let lateStarts = Atomic(0)
    let releases = Atomic(0)
    let callsAfterRelease = Atomic(0)
  }

  private final class Counters: Sendable {
    let counts = Counts()
  }

  private let counters: Counters
  private let subscription: Subscription

  init(_ publisher: Broadcaster<Int>) {
    let counters = Counters()
    self.counters = counters
    let sentinel = Sentinel { counters.counts.releases.add(1, ordering: .releasing) }
    subscription = publisher.subscribe { _ in
      withExtendedLifetime(sentinel) {
        if counters.counts.hasEnded.load(ordering: .acquiring) {
          counters.counts.lateStarts.add(1, ordering: .relaxed)
        }
        if counters.counts.releases.load(ordering: .acquiring) > 0 {
          counters.counts.callsAfterRelease.add(1, ordering: .relaxed)
        }
      }
    }
  }

  func end() {
    subscription.invalidate()
    counters.counts.hasEnded.store(true, ordering: .releasing)
  }

  var lateStarts: Int { counters.counts.lateStarts.load(ordering: .acquiring) }
  var releases: Int { counters.counts.releases.load(ordering: .acquiring) }
  var callsAfterRelease: Int { counters.counts.callsAfterRelease.load(ordering: .acquiring) }
}
