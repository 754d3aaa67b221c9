internal import Dispatch
internal import MiniRex
internal import MiniRexEssentialsAdapters

/// Tells of a transfer on a queue of its own, so that subscribers do not hold up the network.
///
/// Progress that comes while they are busy replaces what waits.
final class TransferReport<Success: Sendable>: Sendable {
  typealias Update = TaskUpdate<TransferProgress, Success, TransferFailure>

  private let queue = DispatchQueue(label: "MiniRex.transfer")
  private let inlet: WorkInlet<Update>
  private let errand: Errand
  /// What waits for the queue.
  private let waiting = Lock<TransferProgress?>(nil)

  init(to inlet: WorkInlet<Update>, of errand: Errand) {
    self.inlet = inlet
    self.errand = errand
  }

  func progress(_ progress: TransferProgress) {
    let isFirst = waiting.withLock { waiting in
      defer { waiting = progress }
      return waiting == nil
    }
    if isFirst {
      queue.async { [self] in
        if let latest = waiting.withLock({ $0.take() }) { inlet.report(.progress(latest)) }
      }
    }
  }

  /// Called when nothing is left to clean up.
  func finish(_ result: Result<Success, TransferFailure>) {
    errand.comeBack()
    queue.async { [self] in inlet.finish(.finished(result)) }
  }
}
