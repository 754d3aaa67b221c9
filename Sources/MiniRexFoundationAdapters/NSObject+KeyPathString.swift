// Key-value observing needs the Objective-C runtime. See NSObject+Unavailable.swift for other
// platforms.
#if canImport(ObjectiveC)
public import Foundation
public import MiniRex

extension NSObjectProtocol where Self: NSObject {
  /// Creates a broadcaster of the changes of a property, with a key path in a string.
  ///
  /// See the overload with a typed key path. Each change checks the type: a value of another type
  /// is a failure, and the publisher continues. `NSNull` is `nil` if `Value` is optional. A
  /// string that names no property, and a property without observation, raise an Objective-C
  /// exception, which stops the process.
  ///
  /// - Parameters:
  ///   - keyPath: The property, such as `"user.name"`.
  ///   - type: The type of its value.
  ///   - options: The options of the typed overload.
  ///   - fileID: The file that instruments show.
  ///   - line: The line that instruments show.
  public func broadcaster<Value: Sendable>(
    forKeyPath keyPath: String, as type: Value.Type = Value.self,
    options: NSKeyValueObservingOptions = [.new], fileID: String = #fileID, line: Int = #line
  ) -> Broadcaster<Result<KeyValueChange<Value>, KeyValueTypeError>> {
    // Observing is safe on any thread.
    let observed = WeakReference<NSObject>(self)
    return Broadcaster(watchedBy: .ofSource("observed \(keyPath)", fileID, line)) { receive in
      guard let object = observed.object else { return .ended }
      let source = BroadcastSource<Result<KeyValueChange<Value>, KeyValueTypeError>>(lineage: nil)
      let gate = source.publisher.subscribe(receive)
      // The observer has one constant, but its superclass is not `Sendable`.
      nonisolated(unsafe) let observer = KeyPathObserver { change in
        source.broadcast(
          Result { () throws(KeyValueTypeError) in
            try KeyValueChange<Value>(change, of: keyPath)
          })
      }
      unsafe object.addObserver(
        observer, forKeyPath: keyPath, options: options, context: nil)
      let observation = Subscription {
        unsafe observed.object?.removeObserver(observer, forKeyPath: keyPath, context: nil)
      }
      return Subscription(
        gate: gate, inputs: [observation, onRelease(of: object) { source.end() }])
    }
  }
}

extension KeyValueChange {
  fileprivate init(
    _ change: [NSKeyValueChangeKey: Any], of keyPath: String
  ) throws(KeyValueTypeError) {
    old = try value(change[.oldKey], keyPath)
    new = try value(change[.newKey], keyPath)
    isPrior = change[.notificationIsPriorKey] as? Bool ?? false
    indexes = change[.indexesKey] as? IndexSet
  }
}

/// A missing value stays missing.
///
/// `NSNull` in place of `nil` is a value.
private func value<Value>(
  _ any: Any?, _ keyPath: String
) throws(KeyValueTypeError) -> Value? {
  guard let any else { return nil }
  if any is NSNull, let none = Any?.none as? Value { return none }
  if let value = any as? Value { return value }
  throw KeyValueTypeError(
    keyPath: keyPath, expected: "\(Value.self)", found: "\(Swift.type(of: any))")
}

/// Passes the changes to a closure.
private final class KeyPathObserver: NSObject {
  private let receive: @Sendable ([NSKeyValueChangeKey: Any]) -> Void

  init(_ receive: @escaping @Sendable ([NSKeyValueChangeKey: Any]) -> Void) {
    self.receive = receive
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    receive(change ?? [:])
  }
}
#endif
