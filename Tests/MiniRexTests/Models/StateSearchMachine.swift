import MiniRex
import TestSupport

/// The code around the real `Schedule` and `Turnstile`, as steps that the search can order.
///
/// Each method mirrors one critical section of `AnyDelivery`, `Delivery`, or `PropertyStorage`. A
/// change there requires the same change here, and `StateSearchLikenessTests` detect most
/// omissions.
struct Machine: Searched {
  enum Event: Equatable {
    case called(Int, with: Int)
    case released(Int)
  }

  let program: Program
  var state: MachineState
  /// The callbacks and releases in order, if the test records them.
  var log: [Event]?

  init(_ program: Program) {
    self.program = program
    var state = MachineState()
    state.references = program.references
    for subscriber in program.subscribers.indices {
      var record = Record()
      if subscriber < program.initial {
        record.hasJoined = true
        record.hasSubscription = true
        record.hasFirst = program.kind == .value
        let serial = state.delivery.schedule.join()
        state.places.append(Place(serial: serial, subscriber: subscriber))
        state.newest = serial
      }
      state.records.append(record)
    }
    state.threads = program.threads.indices.map { [.operations(.thread($0), next: 0)] }
    // The thread of the Swift task that takes over after a handover.
    state.threads.append([])
    self.state = state
  }

  var subscriberCount: Int { state.places.count { $0.serial != 0 } }

  /// Applies the real turnstile to the phase in the state.
  mutating func turnstile<Result>(_ body: (borrowing Turnstile) -> Result) -> Result {
    state.delivery.turnstile(isOpen: isOpen, body)
  }

  private var isOpen: Bool { program.kind == .broadcaster }

  mutating func begin(on thread: Int) {
    state.delivery.schedule.begin(on: id(thread))
    state.foreignUpdates = 0
    state.isVisited = true
  }

  // `AnyDelivery.enter`
  mutating func enter(on thread: Int) -> Bool {
    if turnstile({ $0.enter() }) {
      begin(on: thread)
      return true
    }
    _ = signalDeliverer()
    return takeOver(on: thread)
  }

  mutating func signalDeliverer() -> Bool { state.delivery.signalDeliverer(isOpen: isOpen) }

  // `Schedule.takeOver`
  mutating func takeOver(on thread: Int) -> Bool {
    guard state.delivery.schedule.takeOver(on: id(thread)) else { return false }
    begin(on: thread)
    return true
  }

  // `DeliveryState.join`
  mutating func join(_ subscriber: Int) -> Bool {
    state.records[subscriber].valueAtJoin = state.value
    state.records[subscriber].last = state.sent
    if state.delivery.schedule.hasEnded { return false }
    state.newest = state.delivery.schedule.join()
    state.places.append(Place(serial: state.newest, subscriber: subscriber))
    state.records[subscriber].hasJoined = true
    return true
  }

  // `Delivery.admit`
  mutating func admit(_ update: Update, replacing replaced: Int?, on thread: Int) {
    guard subscriberCount > 0, !state.delivery.schedule.hasEnded else {
      if program.kind == .broadcaster { _ = signalDeliverer() }
      return
    }
    let wasQuiet = isQuiet
    if turnstile({ $0.enter() }) {
      begin(on: thread)
      push(.leave, on: thread)
      let ticket = state.delivery.schedule.ticketForAll(from: id(thread))
      deliver(update, replacing: replaced, ticket, on: thread)
      return
    }
    _ = signalDeliverer()
    let ticket = state.delivery.schedule.ticketForAll(from: id(thread))
    state.queue.append(
      PendingUpdate(update: update, replaced: replaced, ticket: ticket, sender: thread))
    if takeOver(on: thread) { push(.leave, on: thread) }
    expect(!wasQuiet || isDelivering(thread), "R24 \(update) is queued without a delivering thread")
  }

  // `Delivery.deliver`
  mutating func deliver(
    _ update: Update, replacing replaced: Int?, _ ticket: Ticket, on thread: Int
  ) {
    checkTurn(of: update)
    if let replaced, replaced == update.value { return }
    push(.turn(update, ticket, position: 0, end: state.places.count), on: thread)
  }

  // `Delivery.admitFirst`, after `join`
  mutating func admitFirst(_ subscriber: Int, on thread: Int) {
    let first = Update(number: 0, value: state.value, isFirst: true)
    let othersDeliver = state.threads.indices.contains { $0 != thread && isDelivering($0) }
    if enter(on: thread) {
      state.threads[thread] += [.subscribed(subscriber), .leave]
      claim(subscriber, first, on: thread)
    } else if state.delivery.schedule.deliverer == id(thread) {
      push(.subscribed(subscriber), on: thread)
      claim(subscriber, first, on: thread)
    } else {
      expect(
        othersDeliver, "R5 the first value of \(subscriber) is queued without a delivering thread")
      let ticket = state.delivery.schedule.ticketForNewest(from: id(thread))
      state.queue.append(
        PendingUpdate(update: first, replaced: nil, ticket: ticket, sender: thread))
      state.records[subscriber].hasSubscription = true
    }
  }

  mutating func claim(_ subscriber: Int, _ update: Update, on thread: Int) {
    expect(state.records[subscriber].active == 0, "R1 two callbacks of \(subscriber) overlap")
    let deliverers = state.threads.indices.count { isDelivering($0) }
    expect(deliverers <= 1, "R2 \(deliverers) threads deliver")
    state.records[subscriber].active += 1
    push(.claimed(subscriber, update), on: thread)
  }

  // `AnyDelivery.withTurns`, which excludes steps of other threads.
  mutating func turnIsRunning() -> Bool {
    if program.kind == .broadcaster, !signalDeliverer() { return false }
    return state.delivery.schedule.deliverer != nil && !state.delivery.schedule.isBetweenTurns
      && signalDeliverer()
  }

  // `AnyDelivery.remove`, which returns `true` if the caller must release the callback.
  mutating func remove(_ subscriber: Int, on thread: Int, isRunning: Bool) -> Bool {
    let live = state.places.firstIndex { $0.serial != 0 && $0.subscriber == subscriber }
    guard let live else { return false }
    let isVisited = state.isVisited && !isQuiet
    state.records[subscriber].cancelers.insert(thread)
    if isRunning {
      expect(isVisited, "R11 \(subscriber) is not released outside a turn")
      removeLater(live)
      return false
    }
    vacate(live)
    tidy()
    return true
  }

  mutating func vacate(_ place: Int) {
    state.places[place].serial = 0
    state.records[state.places[place].subscriber].hasEnded = true
  }

  mutating func removeLater(_ place: Int) {
    vacate(place)
    state.ended.append(state.places[place].subscriber)
  }

  mutating func tidy() {
    if !state.ended.isEmpty { return }
    checkTidy()
    state.places.removeAll { $0.serial == 0 }
  }

  // `AnyDelivery.end(on:)`
  mutating func endSource(on thread: Int) {
    state.sourceHasEnded = true
    state.delivery.schedule.hasEnded = true
    guard subscriberCount > 0 else { return }
    if enter(on: thread) { push(.proceed, on: thread) }
    expect(!isQuiet, "R13 the end is queued without a delivering thread")
  }

  // One critical section of `AnyDelivery.proceed`
  mutating func proceed(on thread: Int) {
    let step = nextStep()
    state.isVisited = step == .deliver
    switch step {
    case .release:
      push(.release(state.ended.removeFirst()), on: thread)
    case .wake:
      push(.wake(state.waiters), on: thread)
      state.waiters = []
    case .finish:
      expect(state.sourceHasEnded && state.queue.isEmpty, "R13 the source ended before its queue")
      for place in state.places.indices where state.places[place].serial != 0 {
        removeLater(place)
      }
      let first = state.ended.removeFirst()
      // No subscriber can join now, so none waits for the release of the last callback.
      if nextStep() == .rest {
        state.threads[thread][state.threads[thread].count - 1] = .release(first)
        rest()
      } else {
        push(.release(first), on: thread)
      }
    case .deliver:
      deliverNext(on: thread)
    case .handOver:
      expect(
        state.foreignUpdates >= program.patience, "R24 the delivering thread handed over early")
      tidy()
      checkReleases()
      state.threads[thread].removeLast()
      if !state.delivery.schedule.callTask() { return }
      let task = state.threads.count - 1
      expect(state.threads[task].isEmpty, "R24 two tasks take over")
      push(.takeOver, on: task)
    case .rest:
      state.threads[thread].removeLast()
      rest()
    }
  }

  // `DeliveryState.nextStep`
  private mutating func nextStep() -> Step {
    state.delivery.schedule.next(
      front: state.queue.first?.ticket, unreleased: !state.ended.isEmpty,
      waiters: !state.waiters.isEmpty, subscribers: subscriberCount > 0,
      patience: program.patience)
  }

  // `AnyDelivery.rest`
  private mutating func rest() {
    tidy()
    checkReleases()
    turnstile { $0.rest() }
  }

  private mutating func deliverNext(on thread: Int) {
    tidy()
    checkReleases()
    let next = state.queue.removeFirst()
    let more = !state.queue.isEmpty || state.delivery.schedule.hasEnded
    turnstile { $0.acknowledge(expectingMore: more) }
    if next.sender != thread { state.foreignUpdates += 1 }
    expect(
      state.foreignUpdates <= program.patience,
      "R24 the delivering thread delivered too many foreign updates")
    state.threads[thread].removeLast()
    push(.leave, on: thread)
    deliver(next.update, replacing: next.replaced, next.ticket, on: thread)
  }
}
