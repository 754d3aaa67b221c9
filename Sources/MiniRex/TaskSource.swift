/// A source of a task that you finish.
///
/// ```swift
/// let source = TaskSource<Int, Never>()
/// let subscription = source.publisher.subscribe(success: { print($0) })
/// source.finish(.success(42))  // prints 42, for late subscribers as well
/// ```
///
/// If the source is released before it finishes, the task ends without a result.
public final class TaskSource<Success: Sendable, Failure: Error>: Sendable {
  /// The publisher retains the storage, because late subscribers need the result.
  @usableFromInline let storage: UnretainedReference<TaskStorage<Result<Success, Failure>>>

  /// A publisher that emits the result, even to late subscribers.
  ///
  /// It retains the result, but not the source.
  public let publisher: PublishedTask<Success, Failure>

  /// Creates a source without a result.
  ///
  /// - Parameters:
  ///   - name: The name that instruments and graphs show.
  ///   - instrument: The instrument that observes the source. Defaults to the current instrument,
  ///     see ``Instrument``.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  @inlinable
  public init(
    name: String? = nil, instrument: (any Instrument)? = nil, fileID: String = #fileID,
    line: Int = #line
  ) {
    let storage = TaskStorage<Result<Success, Failure>>()
    let lineage = Lineage.ofSource(
      name ?? "\(Self.self)", instrument: instrument, fileID, line)
    self.storage = UnretainedReference(storage)
    lineage?.watch(storage.delivery)
    publisher = Publisher(watchedBy: lineage, value: .none) { storage.subscribe($0) }
  }

  @inlinable
  deinit {
    storage.use { $0.end() }
    publisher.lineage?.sourceHasEnded()
  }

  /// Sends the result as ``BroadcastSource/broadcast(_:)`` does, and finishes the task.
  ///
  /// - Returns: `false` if the task already has a result or has ended. This result is then ignored.
  @inlinable
  @discardableResult
  public func finish(_ result: Result<Success, Failure>) -> Bool {
    storage.use { storage in
      let isAccepted = storage.finish(result)
      publisher.lineage?.taskHasFinished(isAccepted, by: storage.delivery)
      return isAccepted
    }
  }

  /// The number of active subscriptions.
  public var subscriberCount: Int { storage.use { $0.delivery.subscriberCount } }

  /// The number of updates queued for the delivering thread.
  public var pendingUpdates: Int { storage.use { $0.delivery.pendingUpdates } }

  /// Returns when every update sent before this call is delivered, or has no subscriber left.
  ///
  /// Later updates are not awaited. A canceled task returns immediately. With an empty queue it
  /// does not suspend. A callback that blocks its thread on a task that awaits this method
  /// deadlocks.
  public func delivered() async {
    await storage.use { $0.delivery }.delivered()
  }
}
