/// A source of a task whose progress and result you send.
///
/// A subscriber receives the latest progress on subscribing, then further progress, then the
/// result. A late subscriber receives the result. If the source is released before it finishes, the
/// task ends without a result.
public final class ProgressiveTaskSource<Progress: Sendable, Success: Sendable, Failure: Error>:
  Sendable
{
  private let storage: TaskStorage<TaskUpdate<Progress, Success, Failure>>

  /// A publisher that emits progress, then the result.
  ///
  /// It retains the latest progress or the result, but not the source.
  public let publisher: ProgressiveTask<Progress, Success, Failure>

  /// Creates a source without progress and without a result.
  ///
  /// - Parameters:
  ///   - name: The name that instruments and graphs show.
  ///   - instrument: The instrument that observes the source. Defaults to the current instrument,
  ///     see ``Instrument``.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  public init(
    name: String? = nil, instrument: (any Instrument)? = nil, fileID: String = #fileID,
    line: Int = #line
  ) {
    let storage = TaskStorage<TaskUpdate<Progress, Success, Failure>>()
    let lineage = Lineage.ofSource(
      name ?? "\(Self.self)", instrument: instrument, fileID, line)
    self.storage = storage
    lineage?.watch(storage.delivery)
    publisher = Publisher(watchedBy: lineage, value: .none) { storage.subscribe($0) }
  }

  deinit {
    storage.end()
    publisher.lineage?.sourceHasEnded()
  }

  /// Sends progress.
  ///
  /// It delivers as ``BroadcastSource/broadcast(_:)`` does.
  ///
  /// After the result it does nothing.
  public func report(_ progress: Progress) {
    if !storage.report(.progress(progress)), let lineage = publisher.lineage {
      lineage.updateWasNotDelivered(by: storage.delivery)
    }
  }

  /// Sends the result, and finishes the task.
  ///
  /// - Returns: `false` if the task already has a result or has ended. This result is then ignored.
  @discardableResult
  public func finish(_ result: Result<Success, Failure>) -> Bool {
    let isAccepted = storage.finish(.finished(result))
    publisher.lineage?.taskHasFinished(isAccepted, by: storage.delivery)
    return isAccepted
  }

  /// The number of active subscriptions.
  public var subscriberCount: Int { storage.delivery.subscriberCount }

  /// The number of updates queued for the delivering thread.
  public var pendingUpdates: Int { storage.delivery.pendingUpdates }

  /// Returns when every update sent before this call is delivered, or has no subscriber left.
  ///
  /// Later updates are not awaited. A canceled task returns immediately. With an empty queue it
  /// does not suspend. A callback that blocks its thread on a task that awaits this method
  /// deadlocks.
  public func delivered() async {
    await storage.delivery.delivered()
  }
}
