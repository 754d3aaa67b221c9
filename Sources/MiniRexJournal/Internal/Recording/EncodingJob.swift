internal import Dispatch
internal import MiniRex

/// The encoding of a state after the delivery of its commit, and the writes of the lines after it.
///
/// Thread-safe. The first thread that performs it or waits for it runs it, so a wait needs no other thread.
final class EncodingJob: Sendable {
  private struct State: Sendable {
    var body: (@Sendable () -> Void)?
    var thread: ThreadID?
  }

  private let state: Lock<State>
  private let group = DispatchGroup()

  init(_ body: @escaping @Sendable () -> Void) {
    state = Lock(State(body: body))
    group.enter()
  }

  func perform() {
    let thread = ThreadID.current
    let body = state.withLock { state in
      if state.body != nil { state.thread = thread }
      return state.body.take()
    }
    guard let body else { return }
    body()
    state.withLock { $0.thread = nil }
    group.leave()
  }

  /// Returns when the job is done, or immediately if the encoding of a state makes this call.
  func wait() {
    perform()
    let thread = ThreadID.current
    if state.withLock({ $0.thread != thread }) { group.wait() }
  }
}
