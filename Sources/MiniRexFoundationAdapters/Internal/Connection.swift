internal import MiniRex

/// The one registration behind the subscribers of a `LazySource`.
final class Connection<Update: Sendable>: Sendable {
  /// - attaching: its first subscriber registers, on that thread. Next: attached, or over.
  /// - attached: Next: over.
  /// - over: disconnected, or ended by the platform.
  private enum Phase {
    case attaching(ThreadID)
    case attached(Subscription)
    case over
  }

  private struct State {
    var phase: Phase
    var members = 1
    var waiting: [Parking] = []
  }

  private let source = BroadcastSource<Update>()
  private let state = Lock(State(phase: .attaching(.current)))

  var updates: Broadcaster<Update> { source.publisher }

  /// Called by the platform.
  func broadcast(_ update: Update) {
    source.broadcast(update)
  }

  /// False if it is over: who comes now has to connect anew.
  func join() -> Bool {
    state.withLock { state in
      if case .over = state.phase { return false }
      state.members += 1
      return true
    }
  }

  /// True if nobody is left.
  func leave() -> Bool {
    state.withLock { state in
      state.members -= 1
      return state.members == 0
    }
  }

  func attach(_ registration: Subscription) {
    let (isOver, waiting) = state.withLock { state -> (Bool, [Parking]) in
      guard case .attaching = state.phase else { return (true, []) }
      state.phase = .attached(registration)
      defer { state.waiting = [] }
      return (false, state.waiting)
    }
    for parking in waiting { parking.open() }
    if isOver { registration.invalidate() }
  }

  /// Who joins while another thread registers must not return before that, or would miss what is
  /// sent after it has subscribed.
  func waitUntilAttached() {
    let thread = ThreadID.current
    let parking: Parking? = state.withLock { state in
      guard case .attaching(let other) = state.phase, other != thread else { return nil }
      let parking = Parking()
      state.waiting.append(parking)
      return parking
    }
    parking?.wait()
  }

  /// Ends its subscribers, after what has been broadcast by now and `last`, and takes the registration
  /// back.
  ///
  /// They are called when those who have joined meanwhile wait no more: they may hold what a callback
  /// waits for.
  func end(with last: Update? = nil) {
    let (phase, waiting) = state.withLock { state in
      defer {
        state.phase = .over
        state.waiting = []
      }
      return (state.phase, state.waiting)
    }
    for parking in waiting { parking.open() }
    if let last { source.broadcast(last) }
    source.end()
    if case .attached(let registration) = phase { registration.invalidate() }
  }
}

extension Connection {
  /// What it was to connect to is gone already.
  func refuse(with last: Update? = nil) -> Subscription {
    end(with: last)
    return .ended
  }
}
