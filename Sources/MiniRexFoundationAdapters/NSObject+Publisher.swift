// Key-value observing needs the Objective-C runtime. See NSObject+Unavailable.swift for other
// platforms.
#if canImport(ObjectiveC)
public import Foundation
public import MiniRex

extension NSObjectProtocol where Self: NSObject {
  /// Creates a published value of a property, through key-value observing.
  ///
  /// Not compiled here, because it needs an Apple platform:
  ///
  /// ```swift
  /// let fraction = progress.publishedValue(for: \.fractionCompleted)
  /// ```
  ///
  /// It reads the property now and after each change, on the thread that changes it, where
  /// callbacks run as well. Changes on several threads have one order, and the latest value is
  /// emitted last. Each subscriber receives its first value inside `subscribe`. Values that equal
  /// the previous one are skipped.
  ///
  /// The object is not retained. Its deallocation finishes the publisher. The observation lasts
  /// while the publisher or a subscription exists.
  ///
  /// - Parameters:
  ///   - keyPath: The property. Its class must support observing it.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  public func publishedValue<Value: Sendable>(
    for keyPath: KeyPath<Self, Value>, fileID: String = #fileID, line: Int = #line
  ) -> PublishedValue<Value> {
    let observed = Observed(self, keyPath)
    let lineage = Lineage.ofSource("observed \(keyPath)", fileID, line)
    let changes = Broadcaster<Value>(watchedBy: lineage, value: .none) { receive in
      // Each reading is a separate turn, so that the last reading starts after the last change.
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

  /// Creates a broadcaster of the changes of a property, through key-value observing.
  ///
  /// Callbacks run on the thread that changes the property, before the change returns, unless
  /// another thread is delivering. Each subscriber has a separate observation. The object is not
  /// retained, and its deallocation finishes the publisher.
  ///
  /// - Parameters:
  ///   - keyPath: The property. Its class must support observing it.
  ///   - options: `.initial` for an update inside `subscribe`, `.prior` for an update before each
  ///     change, `.old` and `.new` for the values.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
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
/// Unchecked, because neither need be `Sendable`: observing is safe on any thread, and the
/// property is read on the thread that has just changed it.
private struct Observed<Object: NSObject, Value: Sendable>: @unchecked Sendable {
  private weak let object: Object?
  private let keyPath: KeyPath<Object, Value>

  init(_ object: Object, _ keyPath: KeyPath<Object, Value>) {
    self.object = object
    self.keyPath = keyPath
  }

  /// `nil` after the object is deallocated.
  var value: Value? { object?[keyPath: keyPath] }

  func observe(
    _ options: NSKeyValueObservingOptions,
    _ receive: @escaping @Sendable (NSKeyValueObservedChange<Value>) -> Void
  ) -> Subscription {
    guard let object else { return .ended }
    // An observation may be invalidated on any thread, but its type is not `Sendable`.
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
