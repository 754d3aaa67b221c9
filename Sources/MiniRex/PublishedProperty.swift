/// A value whose subscribers hear of each change.
///
/// ```swift
/// let temperature = PublishedProperty(20.0)
/// let subscription = temperature.publisher.subscribe { print($0) }  // prints 20.0
/// temperature.value = 21.5  // prints 21.5
/// temperature.value = 21.5  // prints nothing
/// ```
///
/// In structs and in classes that belong to an actor it may be written as a wrapper,
/// `@PublishedProperty var temperature = 20.0`, with the publisher as `$temperature`; in
/// `Sendable` classes and in actors write `let temperature = PublishedProperty(20.0)`. An
/// `@Observable` class needs `@ObservationIgnored` before the wrapper.
///
/// Values that are `Equatable` are published when they differ from the one before, objects that are
/// not when they are another object, other values whenever they are set. `==` is called on the
/// thread that delivers, so one that belongs to an actor, as every one does in a target whose
/// default isolation is the main actor, is not called at all unless it is marked `nonisolated`. The
/// source ends when it is released.
@propertyWrapper
public final class PublishedProperty<Value: Sendable>: Sendable {
  @usableFromInline let storage: PropertyStorage<Value>

  /// Calls its subscribers with the current value, then with each change.
  ///
  /// The first call is made inside `subscribe`, or, if another thread is delivering at that time,
  /// by that thread. The publisher keeps the current value alive, but not the source.
  public let publisher: PublishedValue<Value>

  /// Makes a source with its first value.
  ///
  /// - Parameters:
  ///   - value: The first value.
  ///   - name: What an instrument calls it.
  ///   - instrument: What watches it; `nil` for the one in force, see ``Instrument``.
  ///   - fileID: Where it is written, for the instrument.
  ///   - line: Where it is written, for the instrument.
  @inlinable
  public convenience init(
    _ value: Value, name: String? = nil, instrument: (any Instrument)? = nil,
    fileID: String = #fileID, line: Int = #line
  ) {
    self.init(
      value,
      lineage: .ofSource(
        name ?? "\(Self.self)", instrument: instrument, fileID, line))
  }

  /// Makes a source with its first value, when written as a wrapper.
  ///
  /// `@PublishedProperty(name: "temperature") var temperature = 20.0` gives it a name.
  @inlinable
  public convenience init(
    wrappedValue: Value, name: String? = nil, instrument: (any Instrument)? = nil,
    fileID: String = #fileID, line: Int = #line
  ) {
    self.init(wrappedValue, name: name, instrument: instrument, fileID: fileID, line: line)
  }

  /// Makes one that is watched by itself if there is a lineage; a part of something else has none.
  @inlinable
  init(_ value: Value, lineage: Lineage?) {
    let storage = PropertyStorage(value)
    self.storage = storage
    publisher = Publisher(watchedBy: lineage, current: { storage.current }) {
      storage.subscribe($0)
    }
  }

  @inlinable
  deinit {
    storage.delivery.end()
    publisher.lineage?.sourceHasEnded()
  }

  /// The last value set, even if it was not published.
  ///
  /// Setting it calls the subscribers as ``BroadcastSource/broadcast(_:)`` does, after the change:
  /// whoever reads it inside a callback finds the value of that call or a newer one. While another
  /// thread is in ``modify(_:)``, reading and setting wait.
  @inlinable
  public var value: Value {
    get { storage.current }
    @inline(__always) set {
      if !storage.set(newValue), let lineage = publisher.lineage {
        lineage.valueWasNotDelivered(by: storage.delivery)
      }
    }
  }

  /// The ``value``, when written as a wrapper.
  @inlinable
  public var wrappedValue: Value {
    get { value }
    set { value = newValue }
  }

  /// The ``publisher``, when written as a wrapper.
  public var projectedValue: PublishedValue<Value> { publisher }

  /// Changes the value in place, and publishes it without a comparison.
  ///
  /// Nobody else reads or sets it meanwhile: readers, setters and new subscribers on other threads
  /// wait, delivering and ending do not. Appending to a large array is O(1), unless somebody else
  /// holds that array too: a subscriber that kept it, or a callback that runs at the time. A body
  /// that throws has changed what it changed, and that is published.
  ///
  /// Using the property inside `body` stops the program. Two threads that modify two properties,
  /// one inside the other and in opposite orders, wait for each other for ever.
  @inlinable @inline(__always) @discardableResult
  public func modify<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    storage.beginModify()
    defer { endModify(publishing: true) }
    return try unsafe body(&storage.value)
  }

  /// Changes the value in place, and publishes it if `body` returns true or throws.
  ///
  /// Otherwise it is like ``modify(_:)``.
  @inlinable @inline(__always)
  public func modifyIfChanged<Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Bool
  ) throws(Failure) {
    storage.beginModify()
    var isChanged = true
    defer { endModify(publishing: isChanged) }
    isChanged = try unsafe body(&storage.value)
  }

  @inlinable @inline(__always)
  func endModify(publishing: Bool) {
    if !storage.endModify(publishing: publishing), let lineage = publisher.lineage {
      lineage.valueWasNotDelivered(by: storage.delivery)
    }
  }

  /// Ends all subscriptions, after what has been set by now is delivered.
  ///
  /// The value can still be read and set; whoever subscribes afterwards gets the last one, once.
  public func end() {
    storage.delivery.end()
    publisher.lineage?.sourceHasEnded()
  }

  /// How many subscriptions have not ended.
  public var subscriberCount: Int { storage.delivery.subscriberCount }

  /// How many updates wait for the thread that delivers.
  ///
  /// The queue has no limit: it grows when values are set faster than callbacks take them.
  public var pendingUpdates: Int { storage.delivery.pendingUpdates }

  /// Returns when all that has been set by now has been delivered, or has nobody left to go to.
  ///
  /// What comes later is not waited for, nor does a cancelled task wait. With nothing on its way it
  /// does not suspend. A callback that holds its thread for a task that waits here waits for ever.
  public func delivered() async {
    await storage.delivery.delivered()
  }
}
