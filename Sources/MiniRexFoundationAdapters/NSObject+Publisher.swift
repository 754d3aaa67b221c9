// Key-value observing needs the runtime of Objective-C; NSObject+Unavailable.swift is for the
// others.
#if canImport(ObjectiveC)
  public import Foundation
  public import MiniRex

  extension NSObjectProtocol where Self: NSObject {
    /// A published value of a property, which key-value observing follows.
    ///
    /// Not compiled here, because it needs an Apple platform:
    ///
    /// ```swift
    /// let fraction = progress.publishedValue(for: \.fractionCompleted)
    /// ```
    ///
    /// It is read now and after each change, on the thread that changes it, where the subscribers
    /// are called too; changes on several threads are brought into one order, and the latest is
    /// told last. The first call of each subscriber is made inside `subscribe`. Values that equal
    /// the one before are skipped.
    ///
    /// The object is not kept alive; its end is the end of the subscriptions. It is followed for as
    /// long as the publisher is kept or subscribed to.
    ///
    /// - Parameters:
    ///   - keyPath: The property; its class has to support observing it.
    ///   - fileID: Where it is written, for an instrument.
    ///   - line: Where it is written, for an instrument.
    public func publishedValue<Value: Sendable>(
      for keyPath: KeyPath<Self, Value>, fileID: String = #fileID, line: Int = #line
    ) -> PublishedValue<Value> {
      let observed = Observed(self, keyPath)
      let lineage = Lineage.ofSource("observed \(keyPath)", fileID, line)
      let changes = Broadcaster<Value>(watchedBy: lineage, current: { nil }) { receive in
        // A turn of its own for each reading: the last one begins after the last change.
        let readings = BroadcastSource<Void>(lineage: nil)
        let reading = readings.publisher.subscribe {
          if let value = observed.value { receive(value) }
        }
        let observation = observed.observe([.initial]) { _ in readings.broadcast(()) }
        let end = observed.onRelease { readings.end() }
        return Subscription(gate: reading, inputs: [observation, end])
      }
      return changes.publishedValue(initial: self[keyPath: keyPath])
    }

    /// Calls with each change of a property, as key-value observing tells it.
    ///
    /// It calls on the thread that changes the property, before the change returns, unless another
    /// thread is delivering already. Each subscriber has an observation of its own, which does not
    /// keep the object alive; the end of the object is the end of its subscriptions.
    ///
    /// - Parameters:
    ///   - keyPath: The property; its class has to support observing it.
    ///   - options: `.initial` for a call inside `subscribe`, `.prior` for one before each change
    ///     too, `.old` and `.new` for the values.
    ///   - fileID: Where it is written, for an instrument.
    ///   - line: Where it is written, for an instrument.
    public func broadcaster<Value: Sendable>(
      for keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [.new],
      fileID: String = #fileID, line: Int = #line
    ) -> Broadcaster<KeyValueChange<Value>> {
      let observed = Observed(self, keyPath)
      return Broadcaster(watchedBy: .ofSource("observed \(keyPath)", fileID, line)) { receive in
        let source = BroadcastSource<KeyValueChange<Value>>(lineage: nil)
        let sentinel = Sentinel { source.end() }
        let gate = source.publisher.subscribe(receive)
        let observation = observed.observe(options) { change in
          withExtendedLifetime(sentinel) {
            source.broadcast(
              KeyValueChange(
                old: change.oldValue, new: change.newValue, isPrior: change.isPrior,
                indexes: change.indexes))
          }
        }
        return Subscription(
          gate: gate, inputs: [observation, observed.onRelease { source.end() }])
      }
    }
  }

  /// An object and one of its properties.
  ///
  /// Unchecked, because neither need be `Sendable`: the object is observed, which is safe on any
  /// thread, and read where it has just been changed.
  private struct Observed<Object: NSObject, Value: Sendable>: @unchecked Sendable {
    private weak let object: Object?
    private let keyPath: KeyPath<Object, Value>

    init(_ object: Object, _ keyPath: KeyPath<Object, Value>) {
      self.object = object
      self.keyPath = keyPath
    }

    /// `nil` if the object is gone.
    var value: Value? { object?[keyPath: keyPath] }

    func observe(
      _ options: NSKeyValueObservingOptions,
      _ receive: @escaping @Sendable (NSKeyValueObservedChange<Value>) -> Void
    ) -> Subscription {
      guard let object else { return .ended }
      // Any thread may invalidate an observation, but its type does not say so.
      nonisolated(unsafe) let observation = object.observe(keyPath, options: options) { _, change in
        receive(change)
      }
      return Subscription { unsafe observation.invalidate() }
    }

    func onRelease(_ end: @escaping @Sendable () -> Void) -> Subscription {
      guard let object else {
        end()
        return .ended
      }
      return MiniRexFoundationAdapters.onRelease(of: object, end)
    }
  }
#endif
