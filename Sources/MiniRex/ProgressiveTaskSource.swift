/// Vends a task whose progress and result you tell by hand.
///
/// Whoever subscribes while it runs is called with the latest progress at once, and with the rest
/// as it comes; whoever subscribes later gets the result. If the source is released before it has
/// finished, its task ends without a result.
public final class ProgressiveTaskSource<Progress: Sendable, Success: Sendable, Failure: Error>:
  Sendable
{
  private let storage: TaskStorage<TaskUpdate<Progress, Success, Failure>>

  /// Calls its subscribers with progress while there is any, then with the result.
  ///
  /// It keeps the latest progress or the result alive, but not the source.
  public let publisher: ProgressiveTask<Progress, Success, Failure>

  /// Makes a source that has neither progress nor a result.
  ///
  /// - Parameters:
  ///   - name: What an instrument calls it.
  ///   - instrument: What watches it; `nil` for the one in force, see ``Instrument``.
  ///   - fileID: Where it is written, for the instrument.
  ///   - line: Where it is written, for the instrument.
  public init(
    name: String? = nil, instrument: (any Instrument)? = nil, fileID: String = #fileID,
    line: Int = #line
  ) {
    let storage = TaskStorage<TaskUpdate<Progress, Success, Failure>>()
    let lineage = Lineage.ofSource(
      name ?? "\(Self.self)", instrument: instrument, fileID, line)
    self.storage = storage
    publisher = Publisher(watchedBy: lineage, current: { nil }) { storage.subscribe($0) }
  }

  deinit {
    storage.end()
    publisher.lineage?.sourceHasEnded()
  }

  /// Delivers progress, as ``BroadcastSource/broadcast(_:)`` delivers an update.
  ///
  /// After the result it does nothing.
  public func report(_ progress: Progress) {
    if !storage.report(.progress(progress)), let lineage = publisher.lineage {
      lineage.updateWasNotDelivered(by: storage.delivery)
    }
  }

  /// Delivers the result, and ends the task.
  ///
  /// - Returns: False if the task has a result already, or has ended; then this one is ignored.
  @discardableResult
  public func finish(_ result: Result<Success, Failure>) -> Bool {
    let isAccepted = storage.finish(.finished(result))
    publisher.lineage?.taskHasFinished(isAccepted, by: storage.delivery)
    return isAccepted
  }

  /// How many subscriptions wait for the result.
  public var subscriberCount: Int { storage.delivery.subscriberCount }

  /// How many updates wait for the thread that delivers.
  public var pendingUpdates: Int { storage.delivery.pendingUpdates }

  /// Returns when all that has been told by now has been delivered, or has nobody left to go to.
  ///
  /// What comes later is not waited for, nor does a cancelled task wait. With nothing on its way it
  /// does not suspend. A callback that holds its thread for a task that waits here waits for ever.
  public func delivered() async {
    await storage.delivery.delivered()
  }
}
