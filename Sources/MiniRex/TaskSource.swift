/// Vends a task that you finish by hand.
///
/// ```swift
/// let source = TaskSource<Int, Never>()
/// let subscription = source.publisher.subscribe(success: { print($0) })
/// source.finish(.success(42))  // prints 42, as it will to whoever subscribes later
/// ```
///
/// If the source is released before it has finished, its task ends without a result.
public final class TaskSource<Success: Sendable, Failure: Error>: Sendable {
  /// Kept by the publisher, whose subscribers come to it.
  @usableFromInline let storage: Borrowed<TaskStorage<Result<Success, Failure>>>

  /// Calls its subscribers with the result, and those who subscribe after it came too.
  ///
  /// It keeps the result alive, but not the source.
  public let publisher: PublishedTask<Success, Failure>

  /// Makes a source that has not finished.
  ///
  /// - Parameters:
  ///   - name: What an instrument calls it.
  ///   - instrument: What watches it; `nil` for the one in force, see ``Instrument``.
  ///   - fileID: Where it is written, for the instrument.
  ///   - line: Where it is written, for the instrument.
  @inlinable
  public init(
    name: String? = nil, instrument: (any Instrument)? = nil, fileID: String = #fileID,
    line: Int = #line
  ) {
    let storage = TaskStorage<Result<Success, Failure>>()
    let lineage = Lineage.ofSource(
      name ?? "\(Self.self)", instrument: instrument, fileID, line)
    self.storage = Borrowed(storage)
    publisher = Publisher(watchedBy: lineage, current: { nil }) { storage.subscribe($0) }
  }

  @inlinable
  deinit {
    storage.use { $0.end() }
    publisher.lineage?.sourceHasEnded()
  }

  /// Delivers the result, as ``BroadcastSource/broadcast(_:)`` delivers an update, and ends the
  /// task.
  ///
  /// - Returns: False if the task has a result already, or has ended; then this one is ignored.
  @inlinable
  @discardableResult
  public func finish(_ result: Result<Success, Failure>) -> Bool {
    storage.use { storage in
      let isAccepted = storage.finish(result)
      publisher.lineage?.taskHasFinished(isAccepted, by: storage.delivery)
      return isAccepted
    }
  }

  /// How many subscriptions wait for the result.
  public var subscriberCount: Int { storage.use { $0.delivery.subscriberCount } }

  /// How many updates wait for the thread that delivers.
  public var pendingUpdates: Int { storage.use { $0.delivery.pendingUpdates } }

  /// Returns when all that has been told by now has been delivered, or has nobody left to go to.
  ///
  /// What comes later is not waited for, nor does a cancelled task wait. With nothing on its way it
  /// does not suspend. A callback that holds its thread for a task that waits here waits for ever.
  public func delivered() async {
    await storage.use { $0.delivery }.delivered()
  }
}
