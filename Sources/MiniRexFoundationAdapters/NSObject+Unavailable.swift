// Without the runtime of Objective-C there is no key-value observing.
#if !canImport(ObjectiveC)
  public import Foundation
  public import MiniRex

  extension NSObjectProtocol where Self: NSObject {
    /// Not on this platform: use `publishedValue(of: object, \.property)` on an `@Observable`
    /// object.
    @available(
      *, unavailable,
      message: "make the class '@Observable' and use 'publishedValue(of: object, \\.property)'"
    )
    public func publishedValue<Value: Sendable>(
      for keyPath: KeyPath<Self, Value>
    ) -> PublishedValue<Value> {
      misuse("There is no key-value observing on this platform.")
    }

    /// Not on this platform: use `publishedValue(of: object, \.property)` on an `@Observable`
    /// object.
    @available(
      *, unavailable,
      message: "make the class '@Observable' and use 'publishedValue(of: object, \\.property)'"
    )
    public func broadcaster<Value: Sendable>(
      for keyPath: KeyPath<Self, Value>
    ) -> Broadcaster<KeyValueChange<Value>> {
      misuse("There is no key-value observing on this platform.")
    }
  }

  extension NSObjectProtocol where Self: NSObject {
    /// Not on this platform: use `publishedValue(of: object, \.property)` on an `@Observable`
    /// object.
    @available(
      *, unavailable,
      message: "make the class '@Observable' and use 'publishedValue(of: object, \\.property)'"
    )
    public func broadcaster<Value: Sendable>(
      forKeyPath keyPath: String, as type: Value.Type = Value.self
    ) -> Broadcaster<Result<KeyValueChange<Value>, KeyValueTypeError>> {
      misuse("There is no key-value observing on this platform.")
    }
  }
#endif
