import MiniRex

/// The rules of the contract, asked in every state.
extension Machine {
  mutating func expect(_ isTrue: Bool, _ breach: @autoclosure () -> String) {
    if !isTrue, state.broken == nil { state.broken = breach() }
  }

  func isDelivering(_ thread: Int) -> Bool {
    state.threads[thread].contains { $0.isDelivering }
  }

  var isQuiet: Bool { state.threads.indices.allSatisfy { !isDelivering($0) } }

  func isReleasing(_ subscriber: Int) -> Bool {
    state.threads.contains { $0.contains(.release(subscriber)) }
  }

  mutating func checkClaim(of subscriber: Int, for update: Update, on thread: Int) {
    let person = state.people[subscriber]
    expect(!person.hasEnded, "R6 \(subscriber) was chosen after its end")
    expect(person.releases == 0, "R11 \(subscriber) was chosen after its release")
    expect(person.active == 0, "R1 two calls of \(subscriber) overlap")
    let isNested = state.threads[thread].contains {
      if case .running = $0 { true } else { false }
    }
    expect(!isNested, "R3 \(update) was delivered inside a callback")
  }

  mutating func checkTurn(of update: Update) {
    let deliverers = state.threads.indices.count { isDelivering($0) }
    expect(deliverers == 1, "R2 there are \(deliverers) deliverers")
    if update.number == 0 { return }
    let lastTurn = state.lastTurn
    expect(update.number > lastTurn, "R3 \(update) was overtaken by \(lastTurn)")
    state.lastTurn = update.number
  }

  /// Who has joined while a turn learned whom it is for may get its update, unless another one was
  /// sent in between.
  mutating func checkEntitled(to update: Update, _ newest: UInt) {
    if update.number == 0 { return }
    for place in state.places where place.serial != 0 && place.serial <= newest {
      if state.people[place.subscriber].last == update.number {
        state.people[place.subscriber].last -= 1
      }
    }
  }

  mutating func checkStart(of subscriber: Int, with update: Update, on thread: Int) {
    let person = state.people[subscriber]
    expect(!person.enders.contains(thread), "R6 \(subscriber) was called on the ending thread")
    if person.hasEnded { state.people[subscriber].startsAfterEnd += 1 }
    expect(person.startsAfterEnd == 0, "R6 \(subscriber) was called twice after its end")
    if update.isFirst {
      expect(!person.hasFirst, "R5 \(subscriber) got a second first value")
      expect(update.value == person.valueAtJoin, "R14 \(subscriber) joined at another value")
      state.people[subscriber].hasFirst = true
    } else {
      expect(
        person.hasFirst || program.kind == .broadcaster, "R5 \(subscriber) got no first value")
      expect(update.number != 0, "R17 \(subscriber) got a duplicate")
      expect(
        update.number == person.last + 1,
        "R2, R5 or R14: \(subscriber) got \(update.number) after \(person.last)")
      state.people[subscriber].last = update.number
    }
    state.people[subscriber].lastValue = update.value
  }

  /// Called wherever a turn is over.
  mutating func checkReleases() {
    for (subscriber, person) in state.people.enumerated() where person.hasEnded {
      expect(
        person.releases == 1 || isReleasing(subscriber),
        "R11 the turn is over, and \(subscriber) is not released")
    }
  }

  mutating func checkRelease(of subscriber: Int, on thread: Int) {
    let person = state.people[subscriber]
    expect(person.hasEnded, "R11 \(subscriber) was released before its end")
    expect(person.releases == 0, "R8 \(subscriber) was released twice")
    expect(person.active == 0, "R11 \(subscriber) was released under its call")
    // The last callback of a source that has ended is released when its deliverer rests already.
    expect(
      person.enders.contains(thread) || isDelivering(thread) || state.sourceHasEnded,
      "R11 \(subscriber) was released on a thread of no concern")
  }

  mutating func checkTidy() {
    let isVisited = state.threads.joined().contains {
      if case .turn(_, _, let position, let end) = $0 { position < end } else { false }
    }
    expect(!isVisited, "R1 the table changed under a turn")
  }

  /// Called when every thread has done all of its program.
  mutating func checkEnd() {
    expect(state.queue.isEmpty, "R3 an update was left in the queue")
    expect(state.phase == 0, "R24 nobody delivers, and nobody may")
    for (subscriber, person) in state.people.enumerated() where person.hasJoined {
      if state.sourceHasEnded { expect(person.hasEnded, "R13 \(subscriber) outlived the source") }
      expect(
        person.releases == (person.hasEnded ? 1 : 0),
        "R11 \(subscriber) was released \(person.releases) times")
      expect(person.active == 0, "R1 a call of \(subscriber) never returned")
      if !person.enders.isEmpty { continue }
      expect(person.last == state.sent, "R3, R5 or R13: \(subscriber) lacks an update")
      if program.kind == .value {
        expect(person.hasFirst, "R5 \(subscriber) got no first value")
        expect(person.lastValue == state.sentValue, "R16 \(subscriber) got another last value")
      }
    }
  }
}
