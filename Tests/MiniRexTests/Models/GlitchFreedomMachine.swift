import MiniRex
import TestSupport

/// The code around the real `Schedule`, `Turnstile`, `Ticket`, and `TurnProgress` where
/// combinations join sources, as steps that the search can order.
///
/// Each method mirrors one critical section of `Delivery`, `AnyDelivery`, `GlitchBarrier`, or
/// `Combination`. `GlitchFreedomSearchTests` compare its updates with the updates of real
/// combinations.
struct GlitchFreedomMachine: Searched {
  enum Event: Hashable {
    /// The number of a turn of a source, or 0 for a first value.
    case value(Int)
    case change([Int], of: Int, isHeld: Bool)
    case emitHeld
  }

  enum Target: Hashable {
    case input(Int, of: Int)
    case last(Int, of: Int)
    case gate
  }

  /// A source, or the delivery of a combination.
  struct Node: Hashable {
    var delivery = DeliveryModel()
    var queue: [Pending] = []
    var slots: [Slot] = []
    var visit = TurnProgress(lastSerial: 0)
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

  struct GlitchBarrier: Hashable {
    var source: Int
    var serial: UInt
    var isOpen = false
    /// The serial number of the newest subscriber at its replacement.
    var replacement: UInt?
    /// A Boolean value that indicates whether the combination has removed the barrier.
    var isRemoved = false
  }

  struct Combination: Hashable {
    /// The input that receives the results, or `nil` for the combination with the watched
    /// subscriber.
    var outer: (combination: Int, input: Int)?
    var cells: [[Int]?]
    var barriers: [GlitchBarrier] = []
    var isHolding = false

    static func == (one: Combination, other: Combination) -> Bool {
      one.cells == other.cells && one.barriers == other.barriers && one.isHolding == other.isHolding
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(cells)
      hasher.combine(barriers)
      hasher.combine(isHolding)
    }
  }

  enum Frame: Hashable {
    case operations(next: Int)
    case turn(Int, Event, Ticket, position: Int)
    case bring([Int], to: Int, input: Int)
    /// Entering a combination without the lock.
    ///
    /// The change is then applied inside, or under the lock if another thread is inside.
    case enter([Int], to: Int, input: Int)
    case inside([Int], of: Int, input: Int)
    case locked([Int], of: Int, input: Int)
    /// Entering a source, whose turn then reads its recipients.
    case read(Int, Event)
    case sendLocked(Int)
    case leave(Int)
    case leaveUnsignaled(Int)
    case proceed(Int)
    case join(source: Int, input: Int, of: Int)
    case installBarriers(of: Int)
    case withdraw(Int, of: Int)
    case subscribed
  }

  struct State: SearchedState {
    /// The sources, then the combinations.
    var nodes: [Node]
    var combinations: [Combination] = []
    var threads: [[Frame]]
    var reacted = 0
    var isSubscribed = false
    /// The number of updates that each source had sent when `subscribe` returned.
    var sentBefore: [Int] = []
    var last: [Int]?
    var broken: String?
  }

  let program: GlitchFreedomProgram
  var state: State
  /// The updates of the subscriber, if the test records them.
  var log: [[Int]]?
  private var joining: [Frame] = []

  init(_ program: GlitchFreedomProgram) {
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

  /// Adds a combination, and the steps that subscribe to it, in order.
  private mutating func plan(
    _ inputs: [GlitchFreedomProgram.Input], outer: (combination: Int, input: Int)?
  ) -> Int {
    let own = state.combinations.count
    state.combinations.append(
      Combination(outer: outer, cells: Array(repeating: nil, count: inputs.count)))
    var node = Node()
    node.slots = [Slot(serial: node.delivery.schedule.join(), target: .gate)]
    state.nodes.append(node)
    for (index, input) in inputs.enumerated() {
      switch input {
      case .source(let source): joining.append(.join(source: source, input: index, of: own))
      case .combination(let inner): _ = plan(inner, outer: (own, index))
      }
    }
    joining.append(.installBarriers(of: own))
    return own
  }

  private func inputs(of combination: Int) -> [GlitchFreedomProgram.Input] {
    var all: [[GlitchFreedomProgram.Input]] = []
    func visit(_ inputs: [GlitchFreedomProgram.Input]) {
      all.append(inputs)
      for case .combination(let inner) in inputs { visit(inner) }
    }
    visit(program.inputs)
    return all[combination]
  }

  func node(of combination: Int) -> Int { program.sources + combination }

  private func isOpen(_ node: Int) -> Bool { program.isOpen || node >= program.sources }

  private mutating func turnstile<Result>(
    of node: Int, _ body: (borrowing Turnstile) -> Result
  ) -> Result {
    let isOpen = isOpen(node)
    return state.nodes[node].delivery.turnstile(isOpen: isOpen, body)
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
        case .reinstallBarriers: reinstallBarriers(of: 0, on: thread)
        }
      case .turn(let node, let event, let ticket, let position):
        // No other thread can observe the visit of a slot that is not called.
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
      case .leaveUnsignaled(let node):
        let id = id(thread)
        if !turnstile(of: node, { $0.leave(as: id) }) { push(.proceed(node), on: thread) }
      case .proceed(let node):
        proceed(node, on: thread)
      case .join(let source, let input, let combination):
        join(source, input, of: combination, on: thread)
      case .installBarriers(let combination):
        installBarriers(of: combination)
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

  private mutating func send(to source: Int, on thread: Int) {
    if !isOpen(source) { return sendUnderLock(to: source, on: thread) }
    let id = id(thread)
    guard turnstile(of: source, { $0.enter(as: id) }) else {
      return push(.sendLocked(source), on: thread)
    }
    push(.leaveUnsignaled(source), on: thread)
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

  // `Delivery.turn`, whose steps the `Machine` searches.
  private mutating func read(_ event: Event, of source: Int, on thread: Int) {
    var ticket = state.nodes[source].delivery.schedule.ticketForAll(from: id(thread))
    if state.nodes[source].delivery.phase != id(thread).rawValue {
      ticket = Ticket(
        first: 1, last: state.nodes[source].delivery.newestAtSignal, sender: id(thread))
    }
    run(event, ticket, of: source, on: thread)
  }

  // `Delivery.admit`, which returns `true` if the caller must run the turn, and then leave.
  private mutating func admit(_ event: Event, to node: Int, on thread: Int) -> Bool {
    if enter(node, on: thread) {
      push(.leave(node), on: thread)
      return true
    }
    let ticket = state.nodes[node].delivery.schedule.ticketForAll(from: id(thread))
    state.nodes[node].queue.append(Pending(ticket: ticket, event: event))
    return false
  }

  private mutating func enter(_ node: Int, on thread: Int) -> Bool {
    let isOpen = isOpen(node)
    return state.nodes[node].delivery.enter(on: thread, isOpen: isOpen)
  }

  private mutating func signalDeliverer(_ node: Int) -> Bool {
    let isOpen = isOpen(node)
    return state.nodes[node].delivery.signalDeliverer(isOpen: isOpen)
  }

  // `Delivery.deliver(_:_:)`
  private mutating func run(_ event: Event, of node: Int, on thread: Int) {
    run(
      event, state.nodes[node].delivery.schedule.ticketForAll(from: id(thread)), of: node,
      on: thread)
  }

  private mutating func run(_ event: Event, _ ticket: Ticket, of node: Int, on thread: Int) {
    state.nodes[node].visit = TurnProgress(lastSerial: ticket.first == 1 ? ticket.last : 0)
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
      expect(false, "\(event) reached \(slots[index].target)")
    }
    return true
  }

  // `AnyDelivery.proceed`
  private mutating func proceed(_ node: Int, on thread: Int) {
    let step = state.nodes[node].delivery.schedule.next(
      front: state.nodes[node].queue.first?.ticket, unreleased: false, waiters: false,
      subscribers: true)
    if step == .rest { return turnstile(of: node) { $0.rest() } }
    expect(step == .deliver, "the next step is \(step)")
    let next = state.nodes[node].queue.removeFirst()
    let more = !state.nodes[node].queue.isEmpty
    turnstile(of: node) { $0.acknowledge(expectingMore: more) }
    push(.leave(node), on: thread)
    run(next.event, next.ticket, of: node, on: thread)
  }

  // `PropertyStorage.subscribe`
  private mutating func join(_ source: Int, _ input: Int, of combination: Int, on thread: Int) {
    let serial = state.nodes[source].delivery.schedule.join()
    state.nodes[source].slots.append(
      Slot(serial: serial, target: .input(input, of: combination)))
    let value = state.nodes[source].sent
    if enter(source, on: thread) {
      push(.leave(source), on: thread)
      push(.bring([value], to: combination, input: input), on: thread)
    } else if state.nodes[source].delivery.schedule.deliverer == id(thread) {
      push(.bring([value], to: combination, input: input), on: thread)
    } else {
      let ticket = state.nodes[source].delivery.schedule.ticketForNewest(from: id(thread))
      state.nodes[source].queue.append(Pending(ticket: ticket, event: .value(value)))
    }
  }

  // `Combination.installBarriers`
  private mutating func installBarriers(of combination: Int) {
    var met: [Int: Int] = [:]
    for input in inputs(of: combination) {
      for source in input.origins { met[source, default: 0] += 1 }
    }
    for source in met.keys.sorted() where met[source, default: 0] > 1 {
      let serial = state.nodes[source].delivery.schedule.join()
      let index = state.combinations[combination].barriers.count
      state.combinations[combination].barriers.append(GlitchBarrier(source: source, serial: serial))
      state.nodes[source].slots.append(
        Slot(serial: serial, target: .last(index, of: combination)))
    }
  }

  // `Combination.installBarriers`, after inputs have switched.
  private mutating func reinstallBarriers(of combination: Int, on thread: Int) {
    let replaced = state.combinations[combination].barriers.indices
    installBarriers(of: combination)
    for last in replaced.reversed()
    where !state.combinations[combination].barriers[last].isRemoved {
      push(.withdraw(last, of: combination), on: thread)
    }
  }

  // `GlitchBarrier.replace` and `Combination.withdraw`
  private mutating func withdraw(_ last: Int, of combination: Int, on thread: Int) {
    var slot = state.combinations[combination].barriers[last]
    let hasDeliverer = signalDeliverer(slot.source)
    let source = state.nodes[slot.source].delivery.schedule
    slot.replacement = slot.replacement ?? source.lastSerial
    state.combinations[combination].barriers[last] = slot
    if let next = state.nodes[slot.source].queue.first,
      next.ticket.last < slot.replacement ?? 0
    {
      return
    }
    if hasDeliverer, source.deliverer != nil, !source.isBetweenTurns,
      source.deliverer != id(thread)
        || state.nodes[slot.source].visit.isAbout(toCall: slot.serial)
    {
      return
    }
    removeBarrier(last, of: combination)
  }

  private mutating func removeBarrier(_ last: Int, of combination: Int) {
    state.combinations[combination].barriers[last].isRemoved = true
    let source = state.combinations[combination].barriers[last].source
    for index in state.nodes[source].slots.indices
    where state.nodes[source].slots[index].target == .last(last, of: combination) {
      state.nodes[source].slots[index].serial = 0
    }
  }

  // `Combination.receive`
  private mutating func receive(
    _ value: [Int], into input: Int, of combination: Int, on thread: Int
  ) {
    let mayHold = state.combinations[combination].barriers.contains { !$0.isRemoved }
    push(
      mayHold
        ? .locked(value, of: combination, input: input)
        : .enter(value, to: combination, input: input), on: thread)
  }

  private mutating func enter(
    _ value: [Int], into input: Int, of combination: Int, on thread: Int
  ) {
    let id = id(thread)
    let node = node(of: combination)
    if turnstile(of: node, { $0.enter(as: id) }) {
      push(.leaveUnsignaled(node), on: thread)
      push(.inside(value, of: combination, input: input), on: thread)
    } else {
      push(.locked(value, of: combination, input: input), on: thread)
    }
  }

  // `Combination.opensBarriers`
  private mutating func opens(_ combination: Int, on thread: Int) -> Bool {
    for (index, last) in state.combinations[combination].barriers.enumerated()
    where !last.isOpen && !last.isRemoved {
      let source = state.nodes[last.source]
      let isDeliverer =
        source.delivery.phase == Turnstile.signaled || source.delivery.phase == Turnstile.delivering
        ? source.delivery.schedule.deliverer == id(thread)
        : source.delivery.phase == id(thread).rawValue
      if isDeliverer, source.visit.isAbout(toCall: last.serial) {
        state.combinations[combination].barriers[index].isOpen = true
      }
    }
    return state.combinations[combination].barriers.contains(where: \.isOpen)
  }

  // `Combination.receiveUnderLock`
  private mutating func receiveUnderLock(
    _ value: [Int], into input: Int, of combination: Int, on thread: Int
  ) {
    let isHeld = opens(combination, on: thread)
    let event = Event.change(value, of: input, isHeld: isHeld)
    // An update that is not emitted needs no turn of the gate, which would find nothing to do.
    if admit(event, to: node(of: combination), on: thread) {
      gate(combination, event, on: thread)
    }
  }

  // `GlitchBarrier.call` and `Combination.close`
  private mutating func call(_ last: Int, of combination: Int, on thread: Int) {
    let slot = state.combinations[combination].barriers[last]
    state.nodes[slot.source].visit.passed = slot.serial
    if slot.replacement != nil { push(.withdraw(last, of: combination), on: thread) }
    if !slot.isOpen { return }
    state.combinations[combination].barriers[last].isOpen = false
    if state.combinations[combination].barriers.contains(where: \.isOpen) { return }
    if admit(.emitHeld, to: node(of: combination), on: thread) {
      gate(combination, .emitHeld, on: thread)
    }
  }

  /// The reaction of the delivering thread of a combination to an event.
  private mutating func gate(_ combination: Int, _ event: Event, on thread: Int) {
    switch event {
    case .change(let value, let input, let isHeld):
      apply(value, to: input, of: combination, isHeld: isHeld, on: thread)
    case .emitHeld:
      if !state.combinations[combination].isHolding { return }
      state.combinations[combination].isHolding = false
      emit(combination, on: thread)
    case .value:
      expect(false, "a number reached a gate")
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
      emit(combination, on: thread)
    }
  }

  private mutating func emit(_ combination: Int, on thread: Int) {
    var all: [Int] = []
    for cell in state.combinations[combination].cells {
      guard let cell else { return }
      all += cell
    }
    if let outer = state.combinations[combination].outer {
      return push(.bring(all, to: outer.combination, input: outer.input), on: thread)
    }
    checkEmitted(all)
    state.last = all
    log?.append(all)
    guard state.isSubscribed, state.reacted < program.reactions.count else { return }
    state.reacted += 1
    send(to: program.reactions[state.reacted - 1], on: thread)
  }

  /// The sources of an emitted update, in order.
  private var leaves: [Int] {
    func leaves(_ input: GlitchFreedomProgram.Input) -> [Int] {
      switch input {
      case .source(let source): [source]
      case .combination(let inputs): inputs.flatMap(leaves)
      }
    }
    return program.inputs.flatMap(leaves)
  }

  private mutating func checkEmitted(_ all: [Int]) {
    let last = state.last
    expect(all != last, "R30 \(all) was emitted twice")
    guard program.isStrict, state.isSubscribed else { return }
    for source in 0..<program.sources {
      let shown = zip(all, leaves).filter { $0.1 == source }.map(\.0)
      guard let newest = shown.max(), newest > state.sentBefore[source] else { continue }
      expect(shown.allSatisfy { $0 == newest }, "R30 \(all) was emitted")
    }
  }

  mutating func checkRest() {
    expect(state.threads.allSatisfy(\.isEmpty), "R10 all threads are deadlocked")
    for node in state.nodes {
      expect(
        node.delivery.phase == Turnstile.resting && node.queue.isEmpty,
        "R3 an update remains in the queue")
    }
    let (sent, last) = (leaves.map { state.nodes[$0].sent }, state.last)
    expect(last == sent, "R16 the last update is \(last ?? []) of \(sent)")
  }
}
