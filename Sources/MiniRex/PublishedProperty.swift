/// A value that publishes its changes.
///
/// ```swift
/// let temperature = PublishedProperty(20.0)
/// let subscription = temperature.publisher.subscribe { print($0) }  // prints 20.0
/// temperature.value = 21.5  // prints 21.5
/// temperature.value = 21.5  // prints nothing
/// ```
///
/// ![a property that is set to an equal value emits nothing](property.svg)
///
/// In structs and in classes that belong to an actor, you can write it as a property wrapper,
/// `@PublishedProperty var temperature = 20.0`, with the publisher as `$temperature`. In `Sendable`
/// classes and in actors, write `let temperature = PublishedProperty(20.0)`. In an `@Observable`
/// class, put `@ObservationIgnored` before the wrapper.
///
/// An `Equatable` value is published when it differs from the previous one, an object that is not
/// `Equatable` when it is another object, any other value on every assignment. `==` runs on the
/// delivering thread. An `==` that is isolated to an actor is therefore never called: mark it
/// `nonisolated` in a target whose default isolation is the main actor. Releasing the property
/// finishes its publisher.
@propertyWrapper
public final class PublishedProperty<Value: Sendable>: Sendable {
  @usableFromInline let storage: PropertyStorage<Value>

  /// A publisher that emits the current value, then each change.
  ///
  /// It emits the first value inside `subscribe`. If another thread is delivering at that moment,
  /// that thread emits it. The publisher retains the current value, but not the source.
  public let publisher: PublishedValue<Value>

  /// Creates a property with an initial value.
  ///
  /// - Parameters:
  ///   - value: The initial value.
  ///   - name: The name that instruments and graphs show.
  ///   - instrument: The instrument that observes the property. Defaults to the current instrument,
  ///     see ``Instrument``.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
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

  /// Creates a property with an initial value, as a property wrapper.
  ///
  /// `@PublishedProperty(name: "temperature") var temperature = 20.0` sets its name.
  @inlinable
  public convenience init(
    wrappedValue: Value, name: String? = nil, instrument: (any Instrument)? = nil,
    fileID: String = #fileID, line: Int = #line
  ) {
    self.init(wrappedValue, name: name, instrument: instrument, fileID: fileID, line: line)
  }

  /// Creates a property with a lineage of its caller.
  ///
  /// Internal parts of another source have no lineage.
  @inlinable
  init(_ value: Value, lineage: Lineage?) {
    let storage = PropertyStorage(value)
    self.storage = storage
    lineage?.watch(storage.delivery)
    publisher = Publisher(watchedBy: lineage, value: .property(storage)) {
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
  /// Setting it delivers as ``BroadcastSource/broadcast(_:)`` does, after the change. A read inside
  /// a callback returns the delivered value or a newer one. While another thread runs
  /// ``modify(_:)``, reads and writes wait.
  @inlinable
  public var value: Value {
    get { storage.current }
    @inline(__always) set {
      if !storage.set(newValue), let lineage = publisher.lineage {
        lineage.valueWasNotDelivered(by: storage.delivery)
      }
    }
  }

  /// The ``value``, for the property wrapper.
  @inlinable
  public var wrappedValue: Value {
    get { value }
    set { value = newValue }
  }

  /// The ``publisher``, for the property wrapper.
  public var projectedValue: PublishedValue<Value> { publisher }

  /// Mutates the value in place, and publishes it without a comparison.
  ///
  /// The body has exclusive access: reads, writes, and new subscriptions on other threads wait.
  /// Delivery and cancellation do not wait. Appending to a large array is O(1) if no other
  /// reference to the array exists, such as a subscriber that retained it or a callback in
  /// progress. If the body throws, its changes stay and are published.
  ///
  /// Traps if `body` uses the property. Two threads that modify two properties, one inside the
  /// other and in opposite orders, deadlock.
  @inlinable @inline(__always) @discardableResult
  public func modify<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    storage.beginModify()
    defer { endModify(publishing: true) }
    return try unsafe body(&storage.value)
  }

  /// Mutates the value in place, and publishes it if `body` returns `true` or throws.
  ///
  /// See ``modify(_:)`` for access and failure.
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

  /// Finishes the publisher after all values set so far are delivered.
  ///
  /// You can still read and set the value. A late subscriber receives the last value once.
  public func end() {
    storage.delivery.end()
    publisher.lineage?.sourceHasEnded()
  }

  /// The number of active subscriptions.
  public var subscriberCount: Int { storage.delivery.subscriberCount }

  /// The number of updates queued for the delivering thread.
  ///
  /// The queue is unbounded. It grows while values are set faster than the callbacks process them.
  public var pendingUpdates: Int { storage.delivery.pendingUpdates }

  /// Returns when every value set before this call is delivered, or has no subscriber left.
  ///
  /// Later values are not awaited. A canceled task returns immediately. With an empty queue it does
  /// not suspend. A callback that blocks its thread on a task that awaits this method deadlocks.
  public func delivered() async {
    await storage.delivery.delivered()
  }
}
