// Combine exists on Apple platforms only.
#if canImport(Combine)
internal import Combine
internal import MiniRex

/// Delivers the requested number of updates to a subscriber of Combine, serially.
///
/// Unchecked, because a subscriber need not be `Sendable`: one thread at a time calls it, as
/// Combine requires. A `Lock` guards the rest.
final class CombineSubscription<Input: Sendable>: Combine.Subscription, @unchecked Sendable {
  private struct State {
    var demand = Subscribers.Demand.none
    /// Requested updates that arrived during another call.
    var due = Queue<Input>()
    /// The latest update beyond the requested number.
    var waiting: Input?
    var hasEnded = false
    /// `true` while a thread calls the subscriber.
    ///
    /// That thread also delivers updates that arrive during the call.
    var isCalling = false
    var isOver = false
    var token: MiniRex.Subscription?

    mutating func admit() {
      guard demand > .none, let update = waiting.take() else { return }
      demand -= .max(1)
      due.append(update)
    }
  }

  /// The next step of the thread that calls the subscriber.
  private enum Call {
    case update(Input)
    case finish
  }

  private let state = Lock(State())
  private let receive: (Input) -> Subscribers.Demand
  private let finish: () -> Void

  init<Downstream: Subscriber<Input, Never>>(_ downstream: Downstream) {
    receive = { downstream.receive($0) }
    finish = { downstream.receive(completion: .finished) }
  }

  func begin(_ upstream: Broadcaster<Input>) {
    let token = upstream.subscribe(as: "combinePublisher") {
      upstream.follow { update in
        self.change { state in
          state.waiting = update
          state.admit()
        }
      } onEnd: {
        self.change { $0.hasEnded = true }
      }
    }
    let isOver = state.withLock { state in
      if !state.isOver { state.token = token }
      return state.isOver
    }
    if isOver { token.invalidate() }
  }

  func request(_ demand: Subscribers.Demand) {
    change { state in
      state.demand += demand
      state.admit()
    }
  }

  func cancel() {
    let (_, _, token) = state.withLock { state in
      state.isOver = true
      let due = state.due
      state.due = Queue()
      return (due, state.waiting.take(), state.token.take())
    }
    token?.invalidate()
  }

  private func change(_ body: (inout sending State) -> Void) {
    // The replaced update is released after the lock.
    let old = state.withLock { state in
      let old = state.waiting
      body(&state)
      return old
    }
    withExtendedLifetime(old) {}
    while let call = next() {
      switch call {
      case .update(let update):
        let demand = receive(update)
        state.withLock { state in
          state.demand += demand
          state.admit()
          state.isCalling = false
        }
      case .finish:
        finish()
      }
    }
  }

  private func next() -> Call? {
    state.withLock { state in
      if state.isOver || state.isCalling { return nil }
      if let update = state.due.popFirst() {
        state.isCalling = true
        return .update(update)
      }
      guard state.hasEnded, state.waiting == nil else { return nil }
      state.isOver = true
      return .finish
    }
  }
}
#endif
