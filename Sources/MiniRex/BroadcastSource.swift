/// Calls its subscribers with whatever you broadcast.
///
/// ```swift
/// final class Door: Sendable {
///   private let source = BroadcastSource<Person>()
///   var visitors: Broadcaster<Person> { source.publisher }
///   func enter(_ person: Person) { source.broadcast(person) }
/// }
/// ```
///
/// The source ends when it is released: keep it for as long as there is something to tell.
public final class BroadcastSource<Update: Sendable>: Sendable {
  @usableFromInline let delivery: Delivery<Update>

  /// Calls its subscribers with each update that is broadcast after they subscribed.
  ///
  /// It does not keep the source alive.
  public let publisher: Broadcaster<Update>

  /// Makes a source without subscribers.
  ///
  /// - Parameters:
  ///   - name: What an instrument calls it.
  ///   - instrument: What watches it; `nil` for the one in force, see ``Instrument``.
  ///   - fileID: Where it is written, for the instrument.
  ///   - line: Where it is written, for the instrument.
  @inlinable
  public convenience init(
    name: String? = nil, instrument: (any Instrument)? = nil, fileID: String = #fileID,
    line: Int = #line
  ) {
    self.init(
      lineage: .ofSource(name ?? "\(Self.self)", instrument: instrument, fileID, line))
  }

  /// Makes one that is watched by itself if there is a lineage; a part of something else has none.
  @inlinable
  package init(lineage: Lineage?) {
    let delivery = Delivery<Update>(isOpen: true)
    self.delivery = delivery
    publisher = Publisher(watchedBy: lineage, current: { nil }) { delivery.subscribe($0) }
  }

  @inlinable
  deinit {
    delivery.end()
    publisher.lineage?.sourceHasEnded()
  }

  /// Calls each subscriber with the update, in the order in which they subscribed.
  ///
  /// The calls are made before this returns, on this thread, unless another thread is delivering
  /// already, or this is called by one of the callbacks: then the update waits until the ones
  /// before it have reached everybody, and this returns at once. After ``end()`` it does nothing.
  @inlinable @inline(__always)
  public func broadcast(_ update: Update) {
    if !delivery.send(update), let lineage = publisher.lineage {
      lineage.updateWasNotDelivered(by: delivery)
    }
  }

  /// Ends all subscriptions, after what has been broadcast by now is delivered.
  public func end() {
    delivery.end()
    publisher.lineage?.sourceHasEnded()
  }

  /// How many subscriptions have not ended.
  public var subscriberCount: Int { delivery.subscriberCount }

  /// How many updates wait for the thread that delivers.
  ///
  /// The queue has no limit: it grows when updates are sent faster than callbacks take them.
  public var pendingUpdates: Int { delivery.pendingUpdates }

  /// Returns when all that has been broadcast by now has been delivered, or has nobody left to go
  /// to.
  ///
  /// So a fast sender can wait for room: `if source.pendingUpdates > 1_000 { await
  /// source.delivered() }`. What comes later is not waited for, nor does a cancelled task wait.
  /// With nothing on its way it does not suspend. A callback that holds its thread for a task that
  /// waits here waits for ever.
  public func delivered() async {
    await delivery.delivered()
  }
}
