internal import MiniRex

/// A subscriber that stores its events and checks every callback.
final class TrialSubscriber: Sendable {
  /// A closure that runs inside a callback.
  typealias Reaction = @Sendable (TrialSubscriber, TrialEvent) -> Void

  private struct State {
    var subscription: Subscription?
    var react: Reaction?
    var events: [TrialEvent] = []
    var expectation = TrialExpectation.events([])
    /// The number of callbacks in progress.
    var depth = 0
    var cancelingThread: ThreadID?
    var callsSinceCancellation = 0
    var hasWaited = false
    weak var cargo: Cargo?

    /// Returns the rule that this callback breaks.
    mutating func check(_ event: TrialEvent) -> (Law, String)? {
      if depth > 0 { return (.serial, "received \(event) while another callback ran") }
      if events.contains(.end) { return (.end, "received \(event) after its end") }
      if hasWaited { return (.invalidateAndWait, "received \(event) after invalidateAndWait()") }
      guard let cancelingThread else { return nil }
      callsSinceCancellation += 1
      if cancelingThread == .current || callsSinceCancellation > 1 {
        return (.invalidate, "received \(event) after its cancellation")
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
  var isSubscribed: Bool { state.withLock { $0.subscription }?.isSubscribed ?? false }
  var hasCanceled: Bool { state.withLock { $0.cancelingThread != nil } }
  var isReleased: Bool { state.withLock { $0.cargo == nil } }

  /// Appends the events to the expected events.
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
    let subscription = log.call(.sender, "Subscribing '\(name)'") {
      publisher.follow(receive, hearingEnd ? onEnd : nil)
    }
    state.withLock { $0.subscription = subscription }
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

  /// Releases the objects that a leaking publisher would retain.
  func abandon() {
    // Release outside the lock.
    _ = state.withLock { ($0.react.take(), $0.subscription.take()) }
  }

  /// A way to cancel, each with a separate rule for a call that does not return.
  enum CancelMethod {
    case invalidate, wait, drop
  }

  func cancel(by method: CancelMethod = .invalidate) {
    log.open("!", in: row)
    let inside = isInside ? " while its callback runs" : ""
    switch method {
    case .invalidate:
      let subscription = state.withLock { $0.subscription }
      log.call(.invalidate, "'\(name)'.invalidate()\(inside)") { subscription?.invalidate() }
    case .wait:
      let subscription = state.withLock { $0.subscription }
      log.call(.invalidateAndWait, "'\(name)'.invalidateAndWait()\(inside)") {
        subscription?.invalidateAndWait()
      }
    case .drop:
      log.call(.drop, "Releasing the subscription of '\(name)'\(inside)") {
        // Release outside the lock.
        _ = state.withLock { $0.subscription.take() }
      }
    }
    state.withLock { if $0.cancelingThread == nil { $0.cancelingThread = .current } }
  }

  /// Calls `invalidateAndWait` on another thread, and checks that no callback runs afterward.
  func waitOutside() {
    let subscription = state.withLock { $0.subscription }
    log.call(.invalidateAndWait, "'\(name)'.invalidateAndWait()") {
      subscription?.invalidateAndWait()
    }
    if isInside {
      log.note(.invalidateAndWait, "'\(name)' was still in its callback after invalidateAndWait().")
    }
    state.withLock { $0.hasWaited = true }
  }
}

/// An object that the callback captures, to check its release.
private final class Cargo: Sendable {}
