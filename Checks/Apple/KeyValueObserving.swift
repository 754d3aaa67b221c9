// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase, TypeNamesShouldBeCapitalized, NoLeadingUnderscores

// The Apple-only part of Foundation that the adapters use, for type-checking on Linux.
public import Foundation

public struct NSKeyValueObservingOptions: OptionSet, Sendable {
  public let rawValue: UInt

  public init(rawValue: UInt) { self.rawValue = rawValue }

  public static let new = NSKeyValueObservingOptions(rawValue: 1)
  public static let old = NSKeyValueObservingOptions(rawValue: 2)
  public static let initial = NSKeyValueObservingOptions(rawValue: 4)
  public static let prior = NSKeyValueObservingOptions(rawValue: 8)
}

public struct NSKeyValueChangeKey: Hashable, Sendable {
  public static let newKey = NSKeyValueChangeKey()
  public static let oldKey = NSKeyValueChangeKey()
  public static let indexesKey = NSKeyValueChangeKey()
  public static let notificationIsPriorKey = NSKeyValueChangeKey()
}

public struct NSKeyValueObservedChange<Value> {
  public let newValue: Value?
  public let oldValue: Value?
  public let indexes: IndexSet?
  public let isPrior: Bool
}

public class NSKeyValueObservation: NSObject {
  public func invalidate() {}
}

/// A class of this module, because members in extensions cannot be overridden without Objective-C.
open class NSObject: Foundation.NSObject {
  public func addObserver(
    _ observer: NSObject, forKeyPath keyPath: String, options: NSKeyValueObservingOptions,
    context: UnsafeMutableRawPointer?
  ) {}

  public func removeObserver(
    _ observer: NSObject, forKeyPath keyPath: String, context: UnsafeMutableRawPointer?
  ) {}

  open func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {}
}

extension NSObjectProtocol where Self: NSObject {
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    fatalError("This is here to be type-checked.")
  }
}
