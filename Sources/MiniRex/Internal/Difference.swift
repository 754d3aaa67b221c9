/// Tells a change from a duplicate, the way its type asks for.
///
/// An `Equatable` value differs when `!=` says so, an object that is not `Equatable` when it is
/// another object, anything else always. The choice is made from the type that `Value` really is,
/// so that generic code compares as well as any other.
@usableFromInline
package struct Difference<Value>: Sendable {
  @usableFromInline let isDifferent: @Sendable (Value, Value) -> Bool

  @inlinable
  package init(_ isDifferent: @escaping @Sendable (Value, Value) -> Bool) {
    self.isDifferent = isDifferent
  }

  @inlinable
  package init() {
    // The direct cast, which is free where the type is known, lets a conformance through that belongs
    // to an actor, and whose `==` must not be called elsewhere; the one from `Any` does not.
    if let equatable = Value.self as? any (Equatable & SendableMetatype).Type,
      (Value.self as Any) is any (Equatable & SendableMetatype).Type
    {
      isDifferent = equalityDifference(equatable)
    } else if let optional = Value.self as? any (AnyOptional & SendableMetatype).Type {
      isDifferent = optionalDifference(optional)
    } else {
      isDifferent = objectDifference()
    }
  }

  @inlinable @inline(__always)
  package func callAsFunction(_ old: Value, _ new: Value) -> Bool {
    isDifferent(old, new)
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

@inlinable
func equalityDifference<Value, E: Equatable & SendableMetatype>(
  _: E.Type
) -> @Sendable (Value, Value) -> Bool {
  // `E` is the type that `Value` turned out to be, so the casts change nothing.
  { unsafe unsafeBitCast($0, to: E.self) != unsafeBitCast($1, to: E.self) }
}

@usableFromInline
func optionalDifference<Value, O: AnyOptional & SendableMetatype>(
  _: O.Type
) -> @Sendable (Value, Value) -> Bool {
  let difference = Difference<O.Wrapped>()
  return { old, new in
    let old = unsafe unsafeBitCast(old, to: O.self).wrapped
    let new = unsafe unsafeBitCast(new, to: O.self).wrapped
    guard let old, let new else { return old != nil || new != nil }
    return difference(old, new)
  }
}

@usableFromInline
func objectDifference<Value>() -> @Sendable (Value, Value) -> Bool {
  { old, new in
    guard isObject(old), isObject(new) else { return true }
    return old as AnyObject !== new as AnyObject
  }
}

/// An `any` type may hold an object too.
private func isObject<Value>(_ value: Value) -> Bool {
  type(of: value as Any) is AnyObject.Type
}
