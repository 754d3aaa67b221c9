import MiniRex
import TestSupport

/// The steps of a thread.
extension Machine {
  /// - Returns: `false` if the thread has finished or must wait.
  mutating func step(_ thread: Int) -> Bool {
    if state.threads[thread].isEmpty { return false }
    // A step that no other thread can observe is merged with the step that follows it.
    while let frame = state.threads[thread].last {
      if let isEnabled = perform(frame, on: thread) {
        finishOperations(of: thread)
        return isEnabled
      }
    }
    return true
  }

  /// - Returns: `nil` if no other thread can observe the step, and `false` if the thread must wait.
  private mutating func perform(_ frame: Frame, on thread: Int) -> Bool? {
    let top = state.threads[thread].count - 1
    switch frame {
    case .operations(let code, let next):
      let operations = operations(of: code)
      if next == operations.count {
        state.threads[thread].removeLast()
        return nil
      }
      state.threads[thread][top] = .operations(code, next: next + 1)
      return perform(operations[next], on: thread)
    case .enter:
      state.threads[thread].removeLast()
      enterUnlocked(on: thread)
    case .send:
      state.threads[thread].removeLast()
      admit(nextUpdate(), replacing: nil, on: thread)
    case .readNewest(let update):
      state.threads[thread][top] = .readSignal(update, newest: state.newest)
    case .readSignal(let update, let newest):
      let wasSignaled = state.delivery.phase != id(thread).rawValue
      state.threads[thread][top] =
        wasSignaled ? .readNewestAtSignal(update) : .readEnd(update, newest: newest)
    case .readNewestAtSignal(let update):
      state.threads[thread][top] = .readEnd(update, newest: state.delivery.newestAtSignal)
    case .readEnd(let update, let newest):
      state.threads[thread].removeLast()
      let ticket = Ticket(first: 1, last: newest, sender: id(thread))
      checkEntitled(to: update, newest)
      deliver(update, replacing: nil, ticket, on: thread)
    case .turn(let update, let ticket, let position, let end):
      return visit(update, ticket, position, end, on: thread)
    case .claimed(let subscriber, let update):
      state.threads[thread][top] = .running(subscriber)
      start(subscriber, update, on: thread)
      return nil
    case .running(let subscriber):
      state.threads[thread].removeLast()
      state.records[subscriber].active -= 1
      // The subscription becomes visible to other threads next, so the state in between counts.
      return state.threads[thread].last == .subscribed(subscriber) ? true : nil
    case .subscribed(let subscriber):
      state.threads[thread].removeLast()
      state.records[subscriber].hasSubscription = true
      return nil
    case .leave, .leaveUnsignaled:
      state.threads[thread].removeLast()
      let id = id(thread)
      if turnstile({ frame == .leave ? $0.leave() : $0.leave(as: id) }) {
        expect(state.queue.isEmpty, "R3 an update remains in the queue")
        expect(state.waiters.isEmpty, "R7 a thread waits for a finished turn")
        checkReleases()
      } else {
        push(.proceed, on: thread)
      }
    case .proceed:
      proceed(on: thread)
    case .takeOver:
      state.threads[thread].removeLast()
      state.delivery.schedule.taskHasBegun()
      if signalDeliverer(), takeOver(on: thread) { push(.proceed, on: thread) }
    case .release(let subscriber):
      checkRelease(of: subscriber, on: thread)
      state.records[subscriber].releases += 1
      log?.append(.released(subscriber))
      state.threads[thread][top] = .operations(.release(subscriber), next: 0)
    case .wake(let waiters):
      state.threads[thread].removeLast()
      for waiter in waiters {
        guard case .parked(let subscriber) = state.threads[waiter].last else { continue }
        state.threads[waiter][state.threads[waiter].count - 1] = .woken(subscriber)
      }
    case .parked:
      return false
    case .woken(let subscriber):
      state.threads[thread].removeLast()
      checkWaited(for: subscriber, on: thread)
      return nil
    case .endModify(let value):
      state.threads[thread].removeLast()
      state.modifier = nil
      change(to: value, comparing: false, on: thread)
    }
    return true
  }

  /// Makes a returned subscription available to the other threads.
  private mutating func finishOperations(of thread: Int) {
    if case .subscribed(let subscriber) = state.threads[thread].last {
      state.threads[thread].removeLast()
      state.records[subscriber].hasSubscription = true
    }
    while case .operations(let code, let next) = state.threads[thread].last,
      next == operations(of: code).count
    {
      state.threads[thread].removeLast()
    }
  }

  private func operations(of code: Frame.Code) -> [Operation] {
    switch code {
    case .thread(let thread): program.threads[thread]
    case .reaction(let subscriber): program.subscribers[subscriber].reaction
    case .release(let subscriber): program.subscribers[subscriber].release
    }
  }

  /// Reads serial numbers up to the first subscriber of the turn.
  private mutating func visit(
    _ update: Update, _ ticket: Ticket, _ position: Int, _ end: Int, on thread: Int
  ) -> Bool? {
    var position = position
    while position < end, !ticket.admits(state.places[position].serial) { position += 1 }
    state.threads[thread].removeLast()
    if position == end { return nil }
    let subscriber = state.places[position].subscriber
    checkClaim(of: subscriber, for: update, on: thread)
    push(.turn(update, ticket, position: position + 1, end: end), on: thread)
    claim(subscriber, update, on: thread)
    return true
  }

  private mutating func start(_ subscriber: Int, _ update: Update, on thread: Int) {
    checkStart(of: subscriber, with: update, on: thread)
    let seen = program.kind == .value ? update.value : update.number
    log?.append(.called(subscriber, with: seen))
    if state.records[subscriber].hasReacted { return }
    state.records[subscriber].hasReacted = true
    push(.operations(.reaction(subscriber), next: 0), on: thread)
  }

  private mutating func checkWaited(for subscriber: Int, on thread: Int) {
    for other in state.threads.indices where other != thread {
      for frame in state.threads[other] {
        switch frame {
        case .claimed(subscriber, _), .running(subscriber):
          expect(false, "R7 \(subscriber) still runs")
        default: break
        }
      }
    }
  }

  /// - Returns: `false` if a `modify` on another thread must finish first.
  private mutating func perform(_ operation: Operation, on thread: Int) -> Bool {
    switch operation {
    case .send:
      expect(program.kind == .broadcaster, "a published value has no send")
      enterUnlocked(on: thread)
    case .set(let value):
      if state.modifier != nil { return false }
      change(to: value, comparing: true, on: thread)
    case .modify(let value):
      if state.modifier != nil { return false }
      state.modifier = thread
      push(.endModify(value), on: thread)
    case .subscribe(let subscriber):
      if state.modifier != nil { return false }
      subscribe(subscriber, on: thread)
    case .end(let subscriber):
      if state.records[subscriber].hasSubscription,
        remove(subscriber, on: thread, isRunning: turnIsRunning())
      {
        push(.release(subscriber), on: thread)
      }
    case .endAndWait(let subscriber):
      if state.records[subscriber].hasSubscription { endAndWait(subscriber, on: thread) }
    case .endSource:
      endSource(on: thread)
    case .releaseSource:
      state.references -= 1
      if state.references == 0 { endSource(on: thread) }
    }
    return true
  }

  // `Delivery.send`
  private mutating func enterUnlocked(on thread: Int) {
    if state.newest == 0 { return }
    let id = id(thread)
    guard turnstile({ $0.enter(as: id) }) else { return push(.send, on: thread) }
    state.foreignUpdates = 0
    state.isVisited = true
    push(.leaveUnsignaled, on: thread)
    push(.readNewest(nextUpdate()), on: thread)
  }

  private mutating func nextUpdate() -> Update {
    let isAccepted = !state.sourceHasEnded
    if isAccepted { state.sent += 1 }
    return Update(number: isAccepted ? state.sent : 0, value: 0)
  }

  // `PropertyStorage.set` and `endModify`
  private mutating func change(to value: Int, comparing: Bool, on thread: Int) {
    let replaced = state.value
    state.value = value
    var update = Update(number: 0, value: value)
    if !state.sourceHasEnded, !comparing || replaced != value {
      state.sent += 1
      state.sentValue = value
      update.number = state.sent
    }
    admit(update, replacing: comparing ? replaced : nil, on: thread)
  }

  // `Delivery.subscribe` and `PropertyStorage.subscribe`
  private mutating func subscribe(_ subscriber: Int, on thread: Int) {
    let hasJoined = join(subscriber)
    expect(hasJoined == !state.sourceHasEnded, "R13 \(subscriber) joined after the end")
    switch (program.kind, hasJoined) {
    case (.broadcaster, true):
      state.records[subscriber].hasSubscription = true
    case (.broadcaster, false):
      break
    case (.value, true):
      admitFirst(subscriber, on: thread)
    case (.value, false):
      claim(subscriber, Update(number: 0, value: state.value, isFirst: true), on: thread)
    }
  }

  // `AnyDelivery.end(_:notifying:)`
  private mutating func endAndWait(_ subscriber: Int, on thread: Int) {
    let isRunning = turnIsRunning()
    let mustRelease = remove(subscriber, on: thread, isRunning: isRunning)
    if isRunning, state.delivery.schedule.deliverer != id(thread) {
      state.waiters.append(thread)
      push(.parked(subscriber), on: thread)
    } else {
      push(.woken(subscriber), on: thread)
    }
    if mustRelease { push(.release(subscriber), on: thread) }
  }
}
