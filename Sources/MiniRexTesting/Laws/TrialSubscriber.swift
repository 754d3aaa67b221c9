internal import MiniRex

/// Subscribes, remembers what it is called with, and knows what it may not be called with.
final class TrialSubscriber: Sendable {
  /// What is done inside a callback.
  typealias Reaction = @Sendable (TrialSubscriber, TrialEvent) -> Void

  private struct State {
    var token: Subscription?
    var react: Reaction?
    var events: [TrialEvent] = []
    var expectation = TrialExpectation.events([])
    /// How many of its calls run now.
    var depth = 0
    var leaver: ThreadID?
    var callsSinceLeft = 0
    var hasWaited = false
    weak var cargo: Cargo?

    /// What is wrong with a call that comes now.
    mutating func check(_ event: TrialEvent) -> (Law, String)? {
      if depth > 0 { return (.serial, "was called with \(event) while another call ran") }
      if events.contains(.end) { return (.end, "was called with \(event) after its end") }
      if hasWaited { return (.invalidateAndWait, "was called with \(event) after it had waited") }
      guard let leaver else { return nil }
      callsSinceLeft += 1
      if leaver == .current || callsSinceLeft > 1 {
        return (.invalidate, "was called with \(event) after it had left")
      }
      return nil
    }
  }

  let name: String
  private let log: TrialLog
  private let row: Int
  private let state = Lock(State())

  init(_ name: String, _ log: TrialLog) {
    self.name = name
    self.log = log
    row = log.addRow(name)
  }

  var events: [TrialEvent] { state.withLock { $0.events } }
  var expectation: TrialExpectation { state.withLock { $0.expectation } }
  var isInside: Bool { state.withLock { $0.depth > 0 } }
  var isSubscribed: Bool { state.withLock { $0.token }?.isSubscribed ?? false }
  var hasLeft: Bool { state.withLock { $0.leaver != nil } }
  var isReleased: Bool { state.withLock { $0.cargo == nil } }

  /// These next, and nothing before them.
  func expect(_ events: [TrialEvent]) {
    state.withLock { state in
      if case .events(let expected) = state.expectation {
        state.expectation = .events(expected + events)
      }
    }
  }

  func expect(_ expectation: TrialExpectation) {
    state.withLock { $0.expectation = expectation }
  }

  func subscribe(
    to publisher: PublisherUnderTest, hearingEnd: Bool, _ react: @escaping Reaction
  ) {
    log.open("^", in: row)
    let cargo = Cargo()
    state.withLock { state in
      state.cargo = cargo
      state.react = react
    }
    let receive: PublisherUnderTest.Call = { event in
      withExtendedLifetime(cargo) { self.receive(event) }
    }
    let onEnd: @Sendable () -> Void = { receive(.end) }
    let token = log.call(.sender, "Subscribing '\(name)'") {
      publisher.follow(receive, hearingEnd ? onEnd : nil)
    }
    state.withLock { $0.token = token }
  }

  private func receive(_ event: TrialEvent) {
    let (wrong, react) = state.withLock { state in
      let wrong = state.check(event)
      state.events.append(event)
      state.depth += 1
      return (wrong, state.react)
    }
    if let (law, words) = wrong { log.note(law, "'\(name)' \(words).") }
    log.draw(event.letter, in: row)
    react?(self, event)
    state.withLock { $0.depth -= 1 }
  }

  /// Lets go of what a publisher that keeps it would keep with it.
  func abandon() {
    // Released here, after the lock.
    _ = state.withLock { ($0.react.take(), $0.token.take()) }
  }

  /// Each has its own rule, if it does not return.
  enum WayOut {
    case invalidate, wait, drop
  }

  func leave(by way: WayOut = .invalidate) {
    log.open("!", in: row)
    let inside = isInside ? " while its callback runs" : ""
    switch way {
    case .invalidate:
      let token = state.withLock { $0.token }
      log.call(.invalidate, "'\(name)'.invalidate()\(inside)") { token?.invalidate() }
    case .wait:
      let token = state.withLock { $0.token }
      log.call(.invalidateAndWait, "'\(name)'.invalidateAndWait()\(inside)") {
        token?.invalidateAndWait()
      }
    case .drop:
      log.call(.drop, "Dropping the token of '\(name)'\(inside)") {
        // Released here, after the lock.
        _ = state.withLock { $0.token.take() }
      }
    }
    state.withLock { if $0.leaver == nil { $0.leaver = .current } }
  }

  /// Called where no call of it can run, if `invalidateAndWait` has kept its promise.
  func waitOutside() {
    let token = state.withLock { $0.token }
    log.call(.invalidateAndWait, "'\(name)'.invalidateAndWait()") { token?.invalidateAndWait() }
    if isInside { log.note(.invalidateAndWait, "'\(name)' was still in its callback.") }
    state.withLock { $0.hasWaited = true }
  }
}

/// What a callback captures.
private final class Cargo: Sendable {}
