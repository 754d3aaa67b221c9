import Foundation
import MiniRex
import Synchronization
import TestSupport
import Testing

/// Real threads against the part of a delivery that takes no lock.
@Suite(.serialized, .timeLimit(.minutes(20))) struct LitmusStorms {
  @Test(arguments: [2, 3, 4], [false, true])
  func `R2 one thread at a time is inside the turnstile, and nothing is left behind`(
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
  func `R11 who is called in the turnstile either refuses or is heard`(isOpen: Bool) {
    let storm = TurnstileStorm(sends: scaled(300_000), isOpen: isOpen)
    let unheard = Atomic(0)
    let isOver = Atomic(false)

    onThreads(2) { thread in
      if thread == 0 {
        storm.sendAll()
        isOver.store(true, ordering: .relaxed)
      }
      while !isOver.load(ordering: .relaxed) {
        if !storm.callAndWaitToBeHeard() { unheard.add(1, ordering: .relaxed) }
      }
    }

    #expect(unheard.load(ordering: .relaxed) == 0)
    #expect(storm.overlaps == 0)
    #expect(storm.delivered == storm.sends)
  }

  @Test(arguments: [2, 3, 4])
  func `R6 after an end at most the one call that was chosen starts`(threads: Int) {
    for round in 0..<scaled(2_000) {
      let source = BroadcastSource<Int>()
      let people = (0..<4).map { _ in EndedPerson(source.publisher) }

      onThreads(threads) { thread in
        if thread == 0 {
          for update in 0..<8 { source.broadcast(update) }
        } else {
          for index in stride(from: round % 2, to: people.count, by: threads - 1) {
            people[index].end()
          }
        }
      }

      let late = people.map(\.lateStarts)
      #expect(late.allSatisfy { $0 <= 1 }, "round \(round)")
      for person in people { person.end() }
      #expect(people.allSatisfy { $0.releases == 1 }, "round \(round)")
      #expect(people.allSatisfy { $0.callsAfterRelease == 0 }, "round \(round)")
    }
  }

  @Test func `R6 and R11 subscribers who come and go in a storm of updates are whole when called`()
  {
    let source = BroadcastSource<Int>()
    let faults = Atomic(0)
    let isOver = Atomic(false)

    onThreads(3) { thread in
      if thread == 0 {
        for update in 0..<scaled(30_000) { source.broadcast(update) }
        isOver.store(true, ordering: .relaxed)
        return
      }
      var people: [EndedPerson] = []
      while !isOver.load(ordering: .relaxed) {
        people.append(EndedPerson(source.publisher))
        if people.count < 30 { continue }
        for person in people { person.end() }
        // Their last calls, and with them the releases, may be under way on the sending thread.
        faults.add(people.count { $0.lateStarts > 1 }, ordering: .relaxed)
        people = []
      }
      for person in people { person.end() }
    }

    #expect(faults.load(ordering: .relaxed) == 0)
    #expect(source.subscriberCount == 0)
    #expect(source.pendingUpdates == 0)
  }
}

/// A machine with nothing but a queue, a lock and the turnstile.
///
/// Unchecked: `deliveries` is guarded by the turnstile, which is what is tested.
private final class TurnstileStorm: @unchecked Sendable {
  private struct State {
    var waiting = 0
    var calls = 0
    var heard = 0
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
      if number.isMultiple(of: 2) { keepOut() }
    }
  }

  private func send() {
    let thread = ThreadID.current
    if isOpen, turnstile.enter(as: thread) {
      deliver()
      if !turnstile.leave(as: thread) { drain() }
      return
    }
    let hasEntered = state.withLock { state in
      while !turnstile.enter() {
        if turnstile.call().isHeard {
          state.waiting += 1
          return false
        }
      }
      return true
    }
    if !hasEntered { return }
    deliver()
    if !turnstile.leave() { drain() }
  }

  private func drain() {
    while true {
      let goesOn = state.withLock { state in
        state.heard = state.calls
        if state.waiting == 0 {
          turnstile.rest()
          return false
        }
        state.waiting -= 1
        turnstile.answer(expectingMore: state.waiting > 0)
        return true
      }
      if !goesOn { return }
      deliver()
      if turnstile.leave() { return }
    }
  }

  private func deliver() {
    beAlone { deliveries += 1 }
  }

  /// As whoever changes a table at rest does.
  private func keepOut() {
    if !isOpen { return }
    state.withLock { _ in
      if !turnstile.close() { return }
      beAlone {}
      turnstile.rest()
    }
  }

  private func beAlone(_ body: () -> Void) {
    if inside.add(1, ordering: .relaxed).newValue != 1 {
      overlapCount.add(1, ordering: .relaxed)
    }
    body()
    inside.subtract(1, ordering: .relaxed)
  }

  /// - Returns: False if the deliverer was called, and rested without looking.
  func callAndWaitToBeHeard() -> Bool {
    let call: Int? = state.withLock { state in
      guard turnstile.call().isHeard else { return nil }
      state.calls += 1
      return state.calls
    }
    guard let call else { return true }
    while true {
      let (isHeard, isResting) = state.withLock { state in
        (state.heard >= call, turnstile.phase.load(ordering: .acquiring) == Turnstile.resting)
      }
      if isHeard { return true }
      if isResting { return false }
      sched_yield()
    }
  }
}

/// Somebody who notices calls that come after the end, or after the release.
private final class EndedPerson: Sendable {
  private struct Notes: ~Copyable {
    let hasEnded = Atomic(false)
    let lateStarts = Atomic(0)
    let releases = Atomic(0)
    let callsAfterRelease = Atomic(0)
  }

  private final class NoteBook: Sendable {
    let notes = Notes()
  }

  private let book: NoteBook
  private let token: Subscription

  init(_ publisher: Broadcaster<Int>) {
    let book = NoteBook()
    self.book = book
    let sentinel = Sentinel { book.notes.releases.add(1, ordering: .releasing) }
    token = publisher.subscribe { _ in
      withExtendedLifetime(sentinel) {
        if book.notes.hasEnded.load(ordering: .acquiring) {
          book.notes.lateStarts.add(1, ordering: .relaxed)
        }
        if book.notes.releases.load(ordering: .acquiring) > 0 {
          book.notes.callsAfterRelease.add(1, ordering: .relaxed)
        }
      }
    }
  }

  func end() {
    token.invalidate()
    book.notes.hasEnded.store(true, ordering: .releasing)
  }

  var lateStarts: Int { book.notes.lateStarts.load(ordering: .acquiring) }
  var releases: Int { book.notes.releases.load(ordering: .acquiring) }
  var callsAfterRelease: Int { book.notes.callsAfterRelease.load(ordering: .acquiring) }
}
