/// A source that sends events to its subscribers.
///
/// ```swift
/// final class Door: Sendable {
///   private let source = BroadcastSource<Person>()
///   var visitors: Broadcaster<Person> { source.publisher }
///   func enter(_ person: Person) { source.broadcast(person) }
/// }
/// ```
///
/// Releasing the source finishes its publisher: retain it while you have events to send.
public final class BroadcastSource<Update: Sendable>: Sendable {
  @usableFromInline let delivery: Delivery<Update>

  /// A publisher that emits each update broadcast after the subscription.
  ///
  /// It does not retain the source.
  public let publisher: Broadcaster<Update>

  /// Creates a source without subscribers.
  ///
  /// - Parameters:
  ///   - name: The name that instruments and graphs show.
  ///   - instrument: The instrument that observes the source. Defaults to the current instrument,
  ///     see ``Instrument``.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  @inlinable
  public convenience init(
    name: String? = nil, instrument: (any Instrument)? = nil, fileID: String = #fileID,
    line: Int = #line
  ) {
    self.init(
      lineage: .ofSource(name ?? "\(Self.self)", instrument: instrument, fileID, line))
  }

  /// Creates a source with a lineage of its caller.
  ///
  /// Internal parts of another source have no lineage.
  @inlinable
  package init(lineage: Lineage?) {
    let delivery = Delivery<Update>(isOpen: true)
    self.delivery = delivery
    lineage?.watch(delivery)
    publisher = Publisher(watchedBy: lineage, value: .none) { delivery.subscribe($0) }
  }

  @inlinable
  deinit {
    delivery.end()
    delivery.valve?.end()
    publisher.lineage?.sourceHasEnded()
  }

  /// Sends an update to each subscriber, in the order in which they subscribed.
  ///
  /// The callbacks run on this thread before the method returns. If another thread is already
  /// delivering, or if a callback of this source makes the call, the update is queued and the
  /// method returns. After ``end()`` it does nothing. It never suspends, and exceeds the limit of
  /// a subscriber with `suspending(_:)`: ``send(_:)-777au`` waits for room instead.
  @inlinable @inline(__always)
  public func broadcast(_ update: Update) {
    if !delivery.send(update), let lineage = publisher.lineage {
      lineage.updateWasNotDelivered(by: delivery)
    }
  }

  /// Finishes the publisher after all updates sent so far are delivered.
  ///
  /// Suspended and later calls of ``send(_:)-777au`` throw.
  public func end() {
    delivery.end()
    delivery.valve?.end()
    publisher.lineage?.sourceHasEnded()
  }

  /// The number of active subscriptions.
  public var subscriberCount: Int { delivery.subscriberCount }

  /// The number of updates queued for the delivering thread.
  ///
  /// The queue is unbounded. It grows while updates are sent faster than the callbacks process
  /// them.
  public var pendingUpdates: Int { delivery.pendingUpdates }

  /// Returns when every update sent before this call is delivered, or has no subscriber left.
  ///
  /// It bounds a fast sender: `if source.pendingUpdates > 1_000 { await source.delivered() }`.
  /// Later updates are not awaited. A canceled task returns immediately. With an empty queue it
  /// does not suspend. A callback that blocks its thread on a task that awaits this method
  /// deadlocks.
  public func delivered() async {
    await delivery.delivered()
  }
}
