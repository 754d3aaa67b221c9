// Key-value observing needs the runtime of Objective-C; NSObject+Unavailable.swift is for the
// others.
#if canImport(ObjectiveC)
  public import Foundation
  public import MiniRex

  extension NSObjectProtocol where Self: NSObject {
    /// Calls with each change of a property that is named by a string.
    ///
    /// It is like the form with a typed key path, except that the type is found out with each
    /// change: a value of another type is a failure, which ends nothing. `NSNull` is `nil` if
    /// `Value` is optional. A string that names no property is an exception of Objective-C, which
    /// stops the program; so does a property that does not support observing.
    ///
    /// - Parameters:
    ///   - keyPath: The property, for example `"user.name"`.
    ///   - type: What its value is.
    ///   - options: As for the typed form.
    ///   - fileID: Where it is written, for an instrument.
    ///   - line: Where it is written, for an instrument.
    public func broadcaster<Value: Sendable>(
      forKeyPath keyPath: String, as type: Value.Type = Value.self,
      options: NSKeyValueObservingOptions = [.new], fileID: String = #fileID, line: Int = #line
    ) -> Broadcaster<Result<KeyValueChange<Value>, KeyValueTypeError>> {
      let observed = WeakObject(self)
      return Broadcaster(watchedBy: .ofSource("observed \(keyPath)", fileID, line)) { receive in
        guard let object = observed.object else { return .ended }
        let source = BroadcastSource<Result<KeyValueChange<Value>, KeyValueTypeError>>(lineage: nil)
        let gate = source.publisher.subscribe(receive)
        // It has a constant only, but what it inherits from is not `Sendable`.
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

  /// What is missing is missing; an `NSNull` that stands for `nil` is a value.
  private func value<Value>(
    _ any: Any?, _ keyPath: String
  ) throws(KeyValueTypeError) -> Value? {
    guard let any else { return nil }
    if any is NSNull, let none = Any?.none as? Value { return none }
    if let value = any as? Value { return value }
    throw KeyValueTypeError(
      keyPath: keyPath, expected: "\(Value.self)", found: "\(Swift.type(of: any))")
  }

  /// Unchecked, because the object need not be `Sendable`: observing it is safe on any thread.
  private struct WeakObject: @unchecked Sendable {
    weak let object: NSObject?

    init(_ object: NSObject) {
      self.object = object
    }
  }

  /// Hears of changes for a closure.
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
