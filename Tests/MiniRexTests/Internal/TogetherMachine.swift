import MiniRex
import Synchronization

/// What surrounds the real `Schedule`, `Turnstile`, `Ticket` and `Visit` where combinations join
/// sources, as steps that the search can order.
///
/// Each method mirrors one critical section of `Delivery`, `AnyDelivery`, `LastSlot` or
/// `Combination`; `TogetherSearchTests` compare what it tells with the real ones.
struct TogetherMachine: Searched {
  enum Event: Hashable {
    /// The number of a turn of a source; 0 of a first value.
    case value(Int)
    case change([Int], of: Int, isHeld: Bool)
    case tellHeld
  }

  enum Target: Hashable {
    case input(Int, of: Int)
    case last(Int, of: Int)
    case gate
  }

  /// A source, or the delivery of a combination.
  struct Node: Hashable {
    var schedule = Schedule()
    var phase: UInt = 0
    var newestAtCall: UInt = 0
    var queue: [Pending] = []
    var slots: [Slot] = []
    var visit = Visit(lastSerial: 0)
    var sent = 0
  }

  struct Pending: Hashable {
    var ticket: Ticket
    var event: Event
  }

  struct Slot: Hashable {
    var serial: UInt
    var target: Target
  }

  struct LastSlot: Hashable {
    var source: Int
    var serial: UInt
    var isOpen = false
    /// The last who had joined when it was replaced.
    var replacement: UInt?
    /// Gone from the combination.
    var isForgotten = false
  }

  struct Combination: Hashable {
    /// Where its results go; `nil` of the one whose subscriber is watched.
    var outer: (combination: Int, input: Int)?
    var cells: [[Int]?]
    var lasts: [LastSlot] = []
    var isHolding = false

    static func == (one: Combination, other: Combination) -> Bool {
      one.cells == other.cells && one.lasts == other.lasts && one.isHolding == other.isHolding
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(cells)
      hasher.combine(lasts)
      hasher.combine(isHolding)
    }
  }

  enum Frame: Hashable {
    case operations(next: Int)
    case turn(Int, Event, Ticket, position: Int)
    case bring([Int], to: Int, input: Int)
    /// Entering a combination without the lock, then what is done with the change inside, or, if
    /// somebody is inside, under the lock.
    case enter([Int], to: Int, input: Int)
    case inside([Int], of: Int, input: Int)
    case locked([Int], of: Int, input: Int)
    /// The same for a source, whose turn then learns for whom it is.
    case read(Int, Event)
    case sendLocked(Int)
    case leave(Int)
    case leaveUncalled(Int)
    case proceed(Int)
    case join(source: Int, input: Int, of: Int)
    case joinLast(of: Int)
    case withdraw(Int, of: Int)
    case subscribed
  }

  struct State: Hashable {
    /// The sources come first, then the combinations.
    var nodes: [Node]
    var combinations: [Combination] = []
    var threads: [[Frame]]
    var reacted = 0
    var isSubscribed = false
    /// What had been sent when `subscribe` returned.
    var sentBefore: [Int] = []
    var last: [Int]?
    var broken: String?
  }

  let program: TogetherProgram
  var state: State
  /// What the subscriber is told, if somebody asks.
  var log: [[Int]]?
  private var joining: [Frame] = []

  init(_ program: TogetherProgram) {
    self.program = program
    state = State(
      nodes: Array(repeating: Node(), count: program.sources),
      threads: program.threads.map { _ in [.operations(next: 0)] })
    _ = plan(program.inputs, outer: nil)
    joining.append(.subscribed)
    if program.threads.joined().contains(.subscribe) { return }
    let operations = state.threads[0]
    state.threads[0] = joining.reversed()
    while state.broken == nil, !state.threads[0].isEmpty { _ = step(0) }
    state.threads[0] = operations
  }

  /// Lays out a combination, and the steps that subscribe to it, in order.
  private mutating func plan(
    _ inputs: [TogetherProgram.Input], outer: (combination: Int, input: Int)?
  ) -> Int {
    let own = state.combinations.count
    state.combinations.append(
      Combination(outer: outer, cells: Array(repeating: nil, count: inputs.count)))
    var node = Node()
    node.slots = [Slot(serial: node.schedule.join(), target: .gate)]
    state.nodes.append(node)
    for (index, input) in inputs.enumerated() {
      switch input {
      case .source(let source): joining.append(.join(source: source, input: index, of: own))
      case .combination(let inner): _ = plan(inner, outer: (own, index))
      }
    }
    joining.append(.joinLast(of: own))
    return own
  }

  private func inputs(of combination: Int) -> [TogetherProgram.Input] {
    var all: [[TogetherProgram.Input]] = []
    func visit(_ inputs: [TogetherProgram.Input]) {
      all.append(inputs)
      for case .combination(let inner) in inputs { visit(inner) }
    }
    visit(program.inputs)
    return all[combination]
  }

  func node(of combination: Int) -> Int { program.sources + combination }

  func id(_ thread: Int) -> ThreadID { ThreadID(rawValue: UInt(thread + 2) * 2) }

  private func isOpen(_ node: Int) -> Bool { program.isOpen || node >= program.sources }

  var broken: String? { state.broken }
  var threadCount: Int { state.threads.count }

  func next(of thread: Int) -> String { state.threads[thread].last.map { "\($0)" } ?? "nothing" }

  private mutating func expect(_ isTrue: Bool, _ breach: @autoclosure () -> String) {
    if !isTrue, state.broken == nil { state.broken = breach() }
  }

  private mutating func turnstile<Result>(
    of node: Int, _ body: (borrowing Turnstile) -> Result
  ) -> Result {
    let turnstile = Turnstile(isOpen: isOpen(node))
    turnstile.phase.store(state.nodes[node].phase, ordering: .relaxed)
    defer { state.nodes[node].phase = turnstile.phase.load(ordering: .relaxed) }
    return body(turnstile)
  }

  mutating func step(_ thread: Int) -> Bool {
    while let frame = state.threads[thread].popLast() {
      switch frame {
      case .operations(let next):
        guard next < program.threads[thread].count else { continue }
        push(.operations(next: next + 1), on: thread)
        switch program.threads[thread][next] {
        case .send(let source): send(to: source, on: thread)
        case .subscribe: state.threads[thread] += joining.reversed()
        case .standAgain: standAgain(of: 0, on: thread)
        }
      case .turn(let node, let event, let ticket, let position):
        // Slots that are not called concern nobody.
        if !visit(node, event, ticket, position, on: thread) { continue }
      case .bring(let value, let combination, let input):
        receive(value, into: input, of: combination, on: thread)
      case .enter(let value, let combination, let input):
        enter(value, into: input, of: combination, on: thread)
      case .inside(let value, let combination, let input):
        let isHeld =
          opens(combination, on: thread) || state.combinations[combination].isHolding
        apply(value, to: input, of: combination, isHeld: isHeld, on: thread)
      case .locked(let value, let combination, let input):
        receiveUnderLock(value, into: input, of: combination, on: thread)
      case .read(let source, let event):
        read(event, of: source, on: thread)
      case .sendLocked(let source):
        sendUnderLock(to: source, on: thread)
      case .leave(let node):
        if !turnstile(of: node, { $0.leave() }) { push(.proceed(node), on: thread) }
      case .leaveUncalled(let node):
        let id = id(thread)
        if !turnstile(of: node, { $0.leave(as: id) }) { push(.proceed(node), on: thread) }
      case .proceed(let node):
        proceed(node, on: thread)
      case .join(let source, let input, let combination):
        join(source, input, of: combination, on: thread)
      case .joinLast(let combination):
        joinLast(of: combination)
      case .withdraw(let last, let combination):
        withdraw(last, of: combination, on: thread)
      case .subscribed:
        state.isSubscribed = true
        state.sentBefore = state.nodes.prefix(program.sources).map(\.sent)
      }
      while state.threads[thread].last == .operations(next: program.threads[thread].count) {
        state.threads[thread].removeLast()
      }
      return true
    }
    return false
  }

  private mutating func push(_ frame: Frame, on thread: Int) {
    state.threads[thread].append(frame)
  }

  private mutating func send(to source: Int, on thread: Int) {
    if !isOpen(source) { return sendUnderLock(to: source, on: thread) }
    let id = id(thread)
    guard turnstile(of: source, { $0.enter(as: id) }) else {
      return push(.sendLocked(source), on: thread)
    }
    push(.leaveUncalled(source), on: thread)
    push(.read(source, nextEvent(of: source)), on: thread)
  }

  private mutating func sendUnderLock(to source: Int, on thread: Int) {
    let event = nextEvent(of: source)
    if state.nodes[source].slots.isEmpty { return }
    if admit(event, to: source, on: thread) { run(event, of: source, on: thread) }
  }

  private mutating func nextEvent(of source: Int) -> Event {
    state.nodes[source].sent += 1
    return .value(state.nodes[source].sent)
  }

  // `Delivery.turn`, whose steps `Machine` searches.
  private mutating func read(_ event: Event, of source: Int, on thread: Int) {
    var ticket = state.nodes[source].schedule.ticketForAll(from: id(thread))
    if state.nodes[source].phase != id(thread).rawValue {
      ticket = Ticket(first: 1, last: state.nodes[source].newestAtCall, sender: id(thread))
    }
    run(event, ticket, of: source, on: thread)
  }

  // `Delivery.admit`: true if the caller has to run the turn, and then to leave.
  private mutating func admit(_ event: Event, to node: Int, on thread: Int) -> Bool {
    if enter(node, on: thread) {
      push(.leave(node), on: thread)
      return true
    }
    let ticket = state.nodes[node].schedule.ticketForAll(from: id(thread))
    state.nodes[node].queue.append(Pending(ticket: ticket, event: event))
    return false
  }

  private mutating func enter(_ node: Int, on thread: Int) -> Bool {
    guard turnstile(of: node, { $0.enter() }) else {
      _ = call(node)
      return false
    }
    state.nodes[node].schedule.begin(on: id(thread))
    return true
  }

  // `AnyDelivery.call`
  private mutating func call(_ node: Int) -> Bool {
    let (isHeard, deliverer) = turnstile(of: node) { $0.call() }
    if let deliverer {
      state.nodes[node].schedule.begin(on: deliverer)
      state.nodes[node].newestAtCall = state.nodes[node].schedule.lastSerial
    }
    return isHeard
  }

  // `Delivery.deliver(_:_:)`
  private mutating func run(_ event: Event, of node: Int, on thread: Int) {
    run(event, state.nodes[node].schedule.ticketForAll(from: id(thread)), of: node, on: thread)
  }

  private mutating func run(_ event: Event, _ ticket: Ticket, of node: Int, on thread: Int) {
    state.nodes[node].visit = Visit(lastSerial: ticket.first == 1 ? ticket.last : 0)
    push(.turn(node, event, ticket, position: 0), on: thread)
  }

  private mutating func visit(
    _ node: Int, _ event: Event, _ ticket: Ticket, _ position: Int, on thread: Int
  ) -> Bool {
    let slots = state.nodes[node].slots
    guard
      let index = slots.indices.dropFirst(position).first(where: {
        ticket.admits(slots[$0].serial)
      })
    else { return false }
    push(.turn(node, event, ticket, position: index + 1), on: thread)
    switch (slots[index].target, event) {
    case (.input(let input, let combination), .value(let number)):
      receive([number], into: input, of: combination, on: thread)
    case (.last(let last, let combination), _):
      call(last, of: combination, on: thread)
    case (.gate, let event):
      gate(node - program.sources, event, on: thread)
    default:
      expect(false, "\(event) came to \(slots[index].target)")
    }
    return true
  }

  // `AnyDelivery.proceed`
  private mutating func proceed(_ node: Int, on thread: Int) {
    let step = state.nodes[node].schedule.next(
      front: state.nodes[node].queue.first?.ticket, unreleased: false, waiters: false,
      subscribers: true)
    if step == .rest { return turnstile(of: node) { $0.rest() } }
    expect(step == .deliver, "the deliverer does \(step)")
    let next = state.nodes[node].queue.removeFirst()
    let more = !state.nodes[node].queue.isEmpty
    turnstile(of: node) { $0.answer(expectingMore: more) }
    push(.leave(node), on: thread)
    run(next.event, next.ticket, of: node, on: thread)
  }

  // `PropertyStorage.subscribe`
  private mutating func join(_ source: Int, _ input: Int, of combination: Int, on thread: Int) {
    let serial = state.nodes[source].schedule.join()
    state.nodes[source].slots.append(
      Slot(serial: serial, target: .input(input, of: combination)))
    let value = state.nodes[source].sent
    if enter(source, on: thread) {
      push(.leave(source), on: thread)
      push(.bring([value], to: combination, input: input), on: thread)
    } else if state.nodes[source].schedule.deliverer == id(thread) {
      push(.bring([value], to: combination, input: input), on: thread)
    } else {
      let ticket = state.nodes[source].schedule.ticketForNewest(from: id(thread))
      state.nodes[source].queue.append(Pending(ticket: ticket, event: .value(value)))
    }
  }

  // `Combination.standLast`
  private mutating func joinLast(of combination: Int) {
    var met: [Int: Int] = [:]
    for input in inputs(of: combination) {
      for source in input.origins { met[source, default: 0] += 1 }
    }
    for source in met.keys.sorted() where met[source, default: 0] > 1 {
      let serial = state.nodes[source].schedule.join()
      let index = state.combinations[combination].lasts.count
      state.combinations[combination].lasts.append(LastSlot(source: source, serial: serial))
      state.nodes[source].slots.append(
        Slot(serial: serial, target: .last(index, of: combination)))
    }
  }

  // `Combination.standLast`, where inputs have moved.
  private mutating func standAgain(of combination: Int, on thread: Int) {
    let replaced = state.combinations[combination].lasts.indices
    joinLast(of: combination)
    for last in replaced.reversed()
    where !state.combinations[combination].lasts[last].isForgotten {
      push(.withdraw(last, of: combination), on: thread)
    }
  }

  // `LastSlot.replace` and `Combination.withdraw`
  private mutating func withdraw(_ last: Int, of combination: Int, on thread: Int) {
    var slot = state.combinations[combination].lasts[last]
    let isHeard = call(slot.source)
    let source = state.nodes[slot.source].schedule
    slot.replacement = slot.replacement ?? source.lastSerial
    state.combinations[combination].lasts[last] = slot
    if let next = state.nodes[slot.source].queue.first,
      next.ticket.last < slot.replacement ?? 0
    {
      return
    }
    if isHeard, source.deliverer != nil, !source.isBetweenTurns,
      source.deliverer != id(thread)
        || state.nodes[slot.source].visit.isAbout(toCall: slot.serial)
    {
      return
    }
    forget(last, of: combination)
  }

  private mutating func forget(_ last: Int, of combination: Int) {
    state.combinations[combination].lasts[last].isForgotten = true
    let source = state.combinations[combination].lasts[last].source
    for index in state.nodes[source].slots.indices
    where state.nodes[source].slots[index].target == .last(last, of: combination) {
      state.nodes[source].slots[index].serial = 0
    }
  }

  // `Combination.receive`
  private mutating func receive(
    _ value: [Int], into input: Int, of combination: Int, on thread: Int
  ) {
    let hasLastSlots = state.combinations[combination].lasts.contains { !$0.isForgotten }
    push(
      hasLastSlots
        ? .locked(value, of: combination, input: input)
        : .enter(value, to: combination, input: input), on: thread)
  }

  private mutating func enter(
    _ value: [Int], into input: Int, of combination: Int, on thread: Int
  ) {
    let id = id(thread)
    let node = node(of: combination)
    if turnstile(of: node, { $0.enter(as: id) }) {
      push(.leaveUncalled(node), on: thread)
      push(.inside(value, of: combination, input: input), on: thread)
    } else {
      push(.locked(value, of: combination, input: input), on: thread)
    }
  }

  // `Combination.opensLastSlots`
  private mutating func opens(_ combination: Int, on thread: Int) -> Bool {
    for (index, last) in state.combinations[combination].lasts.enumerated()
    where !last.isOpen && !last.isForgotten {
      let source = state.nodes[last.source]
      let isDeliverer =
        source.phase == Turnstile.called || source.phase == Turnstile.delivering
        ? source.schedule.deliverer == id(thread) : source.phase == id(thread).rawValue
      if isDeliverer, source.visit.isAbout(toCall: last.serial) {
        state.combinations[combination].lasts[index].isOpen = true
      }
    }
    return state.combinations[combination].lasts.contains(where: \.isOpen)
  }

  // `Combination.receiveUnderLock`
  private mutating func receiveUnderLock(
    _ value: [Int], into input: Int, of combination: Int, on thread: Int
  ) {
    let isHeld = opens(combination, on: thread)
    let event = Event.change(value, of: input, isHeld: isHeld)
    // What is not told needs no turn of the gate, which would find nothing to do.
    if admit(event, to: node(of: combination), on: thread) {
      gate(combination, event, on: thread)
    }
  }

  // `LastSlot.call` and `Combination.close`
  private mutating func call(_ last: Int, of combination: Int, on thread: Int) {
    let slot = state.combinations[combination].lasts[last]
    state.nodes[slot.source].visit.passed = slot.serial
    if slot.replacement != nil { push(.withdraw(last, of: combination), on: thread) }
    if !slot.isOpen { return }
    state.combinations[combination].lasts[last].isOpen = false
    if state.combinations[combination].lasts.contains(where: \.isOpen) { return }
    if admit(.tellHeld, to: node(of: combination), on: thread) {
      gate(combination, .tellHeld, on: thread)
    }
  }

  /// What the deliverer of a combination does with what has come.
  private mutating func gate(_ combination: Int, _ event: Event, on thread: Int) {
    switch event {
    case .change(let value, let input, let isHeld):
      apply(value, to: input, of: combination, isHeld: isHeld, on: thread)
    case .tellHeld:
      if !state.combinations[combination].isHolding { return }
      state.combinations[combination].isHolding = false
      tell(combination, on: thread)
    case .value:
      expect(false, "a number came to a gate")
    }
  }

  private mutating func apply(
    _ value: [Int], to input: Int, of combination: Int, isHeld: Bool, on thread: Int
  ) {
    if state.combinations[combination].cells[input] == value { return }
    state.combinations[combination].cells[input] = value
    if isHeld {
      state.combinations[combination].isHolding = true
    } else {
      tell(combination, on: thread)
    }
  }

  private mutating func tell(_ combination: Int, on thread: Int) {
    var all: [Int] = []
    for cell in state.combinations[combination].cells {
      guard let cell else { return }
      all += cell
    }
    if let outer = state.combinations[combination].outer {
      return push(.bring(all, to: outer.combination, input: outer.input), on: thread)
    }
    checkTold(all)
    state.last = all
    log?.append(all)
    guard state.isSubscribed, state.reacted < program.reactions.count else { return }
    state.reacted += 1
    send(to: program.reactions[state.reacted - 1], on: thread)
  }

  /// The sources of what is told, in order.
  private var leaves: [Int] {
    func leaves(_ input: TogetherProgram.Input) -> [Int] {
      switch input {
      case .source(let source): [source]
      case .combination(let inputs): inputs.flatMap(leaves)
      }
    }
    return program.inputs.flatMap(leaves)
  }

  private mutating func checkTold(_ all: [Int]) {
    let last = state.last
    expect(all != last, "R30 \(all) was told twice")
    guard program.isStrict, state.isSubscribed else { return }
    for source in 0..<program.sources {
      let shown = zip(all, leaves).filter { $0.1 == source }.map(\.0)
      guard let newest = shown.max(), newest > state.sentBefore[source] else { continue }
      expect(shown.allSatisfy { $0 == newest }, "R30 \(all) was told")
    }
  }

  mutating func checkRest() {
    expect(state.threads.allSatisfy(\.isEmpty), "R10 everybody waits for ever")
    for node in state.nodes {
      expect(node.phase == Turnstile.resting && node.queue.isEmpty, "R3 something was left")
    }
    let (sent, last) = (leaves.map { state.nodes[$0].sent }, state.last)
    expect(last == sent, "R16 the last update is \(last ?? []) of \(sent)")
  }
}
