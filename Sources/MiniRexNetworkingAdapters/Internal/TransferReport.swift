internal import Dispatch
internal import MiniRex
internal import MiniRexEssentialsAdapters

/// Reports a transfer on a separate queue, so that subscribers do not block the network.
///
/// Progress that arrives while subscribers are busy, or within a millisecond, replaces the pending
/// progress. Waking a thread for each piece would take longer than the piece.
final class TransferReport<Success: Sendable>: Sendable {
  typealias Update = TaskUpdate<TransferProgress, Success, TransferFailure>

  private struct State: Sendable {
    /// The pending progress.
    var waiting: TransferProgress?
    /// The earliest time of the next progress.
    var nextTurn = DispatchTime.now()
  }

  private let queue = DispatchQueue(label: "MiniRex.transfer")
  private let inlet: WorkInlet<Update>
  private let workHandle: WorkHandle
  private let state = Lock(State())

  init(to inlet: WorkInlet<Update>, of workHandle: WorkHandle) {
    self.inlet = inlet
    self.workHandle = workHandle
  }

  func progress(_ progress: TransferProgress) {
    let turn = state.withLock { state in
      defer { state.waiting = progress }
      return state.waiting == nil ? state.nextTurn : nil
    }
    if let turn { queue.asyncAfter(deadline: turn) { [self] in tell() } }
  }

  /// Reports the result.
  ///
  /// Cleanup is complete by then.
  func finish(_ result: Result<Success, TransferFailure>) {
    workHandle.finish()
    queue.async { [self] in
      tell()
      inlet.finish(.finished(result))
    }
  }

  /// Reports the pending progress, on the queue.
  private func tell() {
    let latest = state.withLock { state in
      state.nextTurn = .now() + .milliseconds(1)
      return state.waiting.take()
    }
    if let latest { inlet.report(.progress(latest)) }
  }
}
