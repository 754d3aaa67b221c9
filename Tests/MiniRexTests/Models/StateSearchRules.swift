import MiniRex
import TestSupport

/// The rules of the contract, checked in every state.
extension Machine {
  func isDelivering(_ thread: Int) -> Bool {
    state.threads[thread].contains { $0.isDelivering }
  }

  var isQuiet: Bool { state.threads.indices.allSatisfy { !isDelivering($0) } }

  func isReleasing(_ subscriber: Int) -> Bool {
    state.threads.contains { $0.contains(.release(subscriber)) }
  }

  mutating func checkClaim(of subscriber: Int, for update: Update, on thread: Int) {
    let record = state.records[subscriber]
    expect(!record.hasEnded, "R6 \(subscriber) was chosen after its cancellation")
    expect(record.releases == 0, "R11 \(subscriber) was chosen after its release")
    expect(record.active == 0, "R1 two callbacks of \(subscriber) overlap")
    let isNested = state.threads[thread].contains {
      if case .running = $0 { true } else { false }
    }
    expect(!isNested, "R3 \(update) was delivered inside a callback")
  }

  mutating func checkTurn(of update: Update) {
    let deliverers = state.threads.indices.count { isDelivering($0) }
    expect(deliverers == 1, "R2 \(deliverers) threads deliver")
    if update.number == 0 { return }
    let lastTurn = state.lastTurn
    expect(update.number > lastTurn, "R3 \(update) was overtaken by \(lastTurn)")
    state.lastTurn = update.number
  }

  /// A subscriber that joins while a turn reads its recipients may receive the update of the turn,
  /// unless another update was sent in between.
  mutating func checkEntitled(to update: Update, _ newest: UInt) {
    if update.number == 0 { return }
    for place in state.places where place.serial != 0 && place.serial <= newest {
      if state.records[place.subscriber].last == update.number {
        state.records[place.subscriber].last -= 1
      }
    }
  }

  mutating func checkStart(of subscriber: Int, with update: Update, on thread: Int) {
    let record = state.records[subscriber]
    expect(
      !record.cancelers.contains(thread),
      "R6 \(subscriber) was called on the thread that canceled it")
    if record.hasEnded { state.records[subscriber].startsAfterEnd += 1 }
    expect(record.startsAfterEnd == 0, "R6 \(subscriber) was called twice after its cancellation")
    if update.isFirst {
      expect(!record.hasFirst, "R5 \(subscriber) received a second first value")
      expect(update.value == record.valueAtJoin, "R14 \(subscriber) joined at another value")
      state.records[subscriber].hasFirst = true
    } else {
      expect(
        record.hasFirst || program.kind == .broadcaster, "R5 \(subscriber) received no first value")
      expect(update.number != 0, "R17 \(subscriber) received a duplicate")
      expect(
        update.number == record.last + 1,
        "R2, R5 or R14: \(subscriber) received \(update.number) after \(record.last)")
      state.records[subscriber].last = update.number
    }
    state.records[subscriber].lastValue = update.value
  }

  /// Checks the releases after each turn.
  mutating func checkReleases() {
    for (subscriber, record) in state.records.enumerated() where record.hasEnded {
      expect(
        record.releases == 1 || isReleasing(subscriber),
        "R11 \(subscriber) is not released after the turn")
    }
  }

  mutating func checkRelease(of subscriber: Int, on thread: Int) {
    let record = state.records[subscriber]
    expect(record.hasEnded, "R11 \(subscriber) was released before its cancellation")
    expect(record.releases == 0, "R8 \(subscriber) was released twice")
    expect(record.active == 0, "R11 \(subscriber) was released during its callback")
    // The last callback of a finished source is released after the delivering thread has rested.
    expect(
      record.cancelers.contains(thread) || isDelivering(thread) || state.sourceHasEnded,
      "R11 \(subscriber) was released on an unrelated thread")
  }

  mutating func checkTidy() {
    let isVisited = state.threads.joined().contains {
      if case .turn(_, _, let position, let end) = $0 { position < end } else { false }
    }
    expect(!isVisited, "R1 the table changed during a turn")
  }

  mutating func checkRest() {
    let isDone = state.threads.allSatisfy(\.isEmpty)
    expect(isDone, "R10 all threads are deadlocked")
    if !isDone { return }
    expect(state.queue.isEmpty, "R3 an update remains in the queue")
    expect(state.delivery.phase == 0, "R24 no thread delivers, but the turnstile is not at rest")
    for (subscriber, record) in state.records.enumerated() where record.hasJoined {
      if state.sourceHasEnded { expect(record.hasEnded, "R13 \(subscriber) outlived the source") }
      expect(
        record.releases == (record.hasEnded ? 1 : 0),
        "R11 \(subscriber) was released \(record.releases) times")
      expect(record.active == 0, "R1 a callback of \(subscriber) never returned")
      if !record.cancelers.isEmpty { continue }
      expect(record.last == state.sent, "R3, R5 or R13: \(subscriber) missed an update")
      if program.kind == .value {
        expect(record.hasFirst, "R5 \(subscriber) received no first value")
        expect(record.lastValue == state.sentValue, "R16 \(subscriber) received another last value")
      }
    }
  }
}
