internal import Dispatch
internal import MiniRex
internal import MiniRexEssentialsAdapters

/// Tells of a transfer on a queue of its own, so that subscribers do not hold up the network.
///
/// Progress that comes while they are busy, or within a millisecond, replaces what waits: a thread that
/// is woken for each piece takes longer than the piece.
final class TransferReport<Success: Sendable>: Sendable {
  typealias Update = TaskUpdate<TransferProgress, Success, TransferFailure>

  private struct State: Sendable {
    /// What waits for the queue.
    var waiting: TransferProgress?
    /// No progress is told before.
    var nextTurn = DispatchTime.now()
  }

  private let queue = DispatchQueue(label: "MiniRex.transfer")
  private let inlet: WorkInlet<Update>
  private let errand: Errand
  private let state = Lock(State())

  init(to inlet: WorkInlet<Update>, of errand: Errand) {
    self.inlet = inlet
    self.errand = errand
  }

  func progress(_ progress: TransferProgress) {
    let turn = state.withLock { state in
      defer { state.waiting = progress }
      return state.waiting == nil ? state.nextTurn : nil
    }
    if let turn { queue.asyncAfter(deadline: turn) { [self] in tell() } }
  }

  /// Called when nothing is left to clean up.
  func finish(_ result: Result<Success, TransferFailure>) {
    errand.comeBack()
    queue.async { [self] in
      tell()
      inlet.finish(.finished(result))
    }
  }

  /// On the queue.
  private func tell() {
    let latest = state.withLock { state in
      state.nextTurn = .now() + .milliseconds(1)
      return state.waiting.take()
    }
    if let latest { inlet.report(.progress(latest)) }
  }
}
