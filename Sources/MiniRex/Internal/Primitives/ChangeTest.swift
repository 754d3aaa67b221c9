/// Distinguishes changes from duplicates, by the rules of the type.
///
/// An `Equatable` value differs if `!=` is `true`, an object that is not `Equatable` if it is not
/// identical, any other value always. The dynamic choice uses the static type `Value`, so that
/// generic code compares in the same way.
///
/// Unchecked: `isChange` is `@Sendable`, or the `==` of the type without an actor isolation.
@usableFromInline
package struct ChangeTest<Value>: @unchecked Sendable {
  @usableFromInline let isChange: (Value, Value) -> Bool

  @inlinable
  package init(_ isChange: @escaping @Sendable (Value, Value) -> Bool) {
    self.isChange = isChange
  }

  @inlinable
  init(ofEquatable isChange: @escaping (Value, Value) -> Bool) {
    self.isChange = isChange
  }

  /// - Parameter comparesElements: `true` to compare the elements of a tuple, which cannot be
  ///   `Equatable` itself.
  @inlinable
  package init(comparesElements: Bool = false) {
    // The cast of `EqualityProbe` is free and calls `==` directly where the type is known. It
    // accepts a conformance that is isolated to an actor, whose `==` must not run elsewhere. The
    // cast from `Any` does not accept it.
    if let probe = EqualityProbe<Value>() as? any EquatableProbe,
      (Value.self as Any) is any (Equatable & SendableMetatype).Type
    {
      self = probe.changeTest()
    } else if let optional = Value.self as? any (AnyOptional & SendableMetatype).Type {
      isChange = optionalTest(optional)
    } else {
      isChange = objectTest(comparesElements)
    }
  }

  @inlinable @inline(__always)
  package func callAsFunction(_ old: Value, _ new: Value) -> Bool {
    isChange(old, new)
  }
}

/// A comparison that runs in place, without a retain.
///
/// Without one, every value is a change.
@usableFromInline
struct Comparison<Value>: ~Copyable, Sendable {
  @usableFromInline let changeTest: ChangeTest<Value>?

  @inlinable
  init(_ changeTest: ChangeTest<Value>?) {
    self.changeTest = changeTest
  }

  @inlinable @inline(__always)
  borrowing func isChange(from old: Value, to new: Value) -> Bool {
    changeTest?.isChange(old, new) ?? true
  }
}

@usableFromInline
struct EqualityProbe<Value> {
  @inlinable init() {}
}

@usableFromInline
protocol EquatableProbe {
  /// - Returns: The test for the values of `EqualityProbe`, whose type is `Value`.
  func changeTest<Value>() -> ChangeTest<Value>
}

extension EqualityProbe: EquatableProbe where Value: Equatable {
  @inlinable
  func changeTest<Same>() -> ChangeTest<Same> {
    ChangeTest<Same>(ofEquatable: {
      unsafe unsafeBitCast($0, to: Value.self) != unsafeBitCast($1, to: Value.self)
    })
  }
}

@usableFromInline
package protocol AnyOptional {
  associatedtype Wrapped
  var wrapped: Wrapped? { get }
}

extension Optional: AnyOptional {
  @usableFromInline package var wrapped: Wrapped? { self }
}

@usableFromInline
func optionalTest<Value, O: AnyOptional & SendableMetatype>(
  _: O.Type
) -> @Sendable (Value, Value) -> Bool {
  let changeTest = ChangeTest<O.Wrapped>()
  return { old, new in
    let old = unsafe unsafeBitCast(old, to: O.self).wrapped
    let new = unsafe unsafeBitCast(new, to: O.self).wrapped
    guard let old, let new else { return old != nil || new != nil }
    return changeTest(old, new)
  }
}

@usableFromInline
func objectTest<Value>(_ comparesElements: Bool) -> @Sendable (Value, Value) -> Bool {
  { old, new in
    guard isObject(old), isObject(new) else {
      return !comparesElements || haveDifferentElements(old, new)
    }
    return old as AnyObject !== new as AnyObject
  }
}

/// Returns `false` for equal tuples only.
private func haveDifferentElements(_ old: Any, _ new: Any) -> Bool {
  let (old, new) = (Mirror(reflecting: old), Mirror(reflecting: new))
  guard old.displayStyle == .tuple, new.displayStyle == .tuple else { return true }
  return zip(old.children, new.children).contains { isChange(from: $0.value, to: $1.value) }
}

/// Applies the rules of `ChangeTest` to the dynamic types.
private func isChange(from old: Any, to new: Any) -> Bool {
  if let old = old as? any Equatable { return isChange(of: old, to: new) }
  if isObject(old), isObject(new) { return old as AnyObject !== new as AnyObject }
  return haveDifferentElements(old, new)
}

private func isChange<Value: Equatable>(of old: Value, to new: Any) -> Bool {
  guard let new = new as? Value else { return true }
  return old != new
}

/// An existential may hold an object as well.
private func isObject<Value>(_ value: Value) -> Bool {
  type(of: value as Any) is AnyObject.Type
}
