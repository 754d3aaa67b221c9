// Key-value observing needs the Objective-C runtime.
#if !canImport(ObjectiveC)
public import Foundation
public import MiniRex

extension NSObjectProtocol where Self: NSObject {
  /// Unavailable; on this platform use `publishedValue(of: object, \.property)` with an
  /// `@Observable` object.
  @available(
    *, unavailable,
    message: "Declare the class '@Observable', and use 'publishedValue(of: object, \\.property)'."
  )
  public func publishedValue<Value: Sendable>(
    for keyPath: KeyPath<Self, Value>
  ) -> PublishedValue<Value> {
    misuse("There is no key-value observing on this platform.")
  }

  /// Unavailable; on this platform use `publishedValue(of: object, \.property)` with an
  /// `@Observable` object.
  @available(
    *, unavailable,
    message: "Declare the class '@Observable', and use 'publishedValue(of: object, \\.property)'."
  )
  public func broadcaster<Value: Sendable>(
    for keyPath: KeyPath<Self, Value>
  ) -> Broadcaster<KeyValueChange<Value>> {
    misuse("There is no key-value observing on this platform.")
  }
}

extension NSObjectProtocol where Self: NSObject {
  /// Unavailable; on this platform use `publishedValue(of: object, \.property)` with an
  /// `@Observable` object.
  @available(
    *, unavailable,
    message: "Declare the class '@Observable', and use 'publishedValue(of: object, \\.property)'."
  )
  public func broadcaster<Value: Sendable>(
    forKeyPath keyPath: String, as type: Value.Type = Value.self
  ) -> Broadcaster<Result<KeyValueChange<Value>, KeyValueTypeError>> {
    misuse("There is no key-value observing on this platform.")
  }
}
#endif
