internal import Dispatch
internal import MiniRex

/// Emits updates, and keeps the first ones for the first subscriber.
///
/// A replica works before its creator can subscribe. Thread-safe. The kept updates are emitted on the queue, in order.
final class HeldUpdates<Update: Sendable>: Sendable {
  private struct State: Sendable {
    /// `nil` after the first subscriber has received them.
    var held: [Update]? = []
    var isOver = false
  }

  private let source = BroadcastSource<Update>()
  private let state = Lock(State())
  private let queue: DispatchQueue
  private let limit: Int

  init(on queue: DispatchQueue, limit: Int) { (self.queue, self.limit) = (queue, limit) }

  /// Emits an update, or keeps it for the first subscriber.
  ///
  /// - Parameter isHeld: `false` for an update that a late subscriber does not receive.
  func broadcast(_ update: Update, isHeld: Bool = true) {
    let isKept = state.withLock { state in
      guard isHeld, let count = state.held?.count else { return false }
      if count < limit { state.held?.append(update) }
      return true
    }
    if !isKept { source.broadcast(update) }
  }

  /// Finishes the publisher, after the first subscriber has received the kept updates.
  func end() {
    let waits = state.withLock { state in
      state.isOver = true
      return state.held?.isEmpty == false
    }
    if !waits { source.end() }
  }

  /// A publisher of all updates, which does not retain this object.
  var publisher: Broadcaster<Update> {
    let publisher = source.publisher
    return Broadcaster { [weak self] receive in
      let subscription = publisher.subscribe { receive($0) }
      if let self, state.withLock({ $0.held != nil }) {
        queue.async { [self] in emitHeld() }
      }
      return subscription
    }
  }

  private func emitHeld() {
    while true {
      let next = state.withLock { state in
        defer { state.held = state.held?.isEmpty ?? true ? nil : [] }
        return state.held ?? []
      }
      if next.isEmpty { break }
      for update in next { source.broadcast(update) }
    }
    if state.withLock({ $0.isOver }) { source.end() }
  }
}
