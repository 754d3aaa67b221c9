/// Tells a change from a duplicate, the way its type asks for.
///
/// An `Equatable` value differs when `!=` says so, an object that is not `Equatable` when it is
/// another object, anything else always. The choice is made from the type that `Value` really is,
/// so that generic code compares as well as any other.
///
/// Unchecked: `isDifferent` is `@Sendable`, or the type's own `==`, which belongs to no actor.
@usableFromInline
package struct Difference<Value>: @unchecked Sendable {
  @usableFromInline let isDifferent: (Value, Value) -> Bool

  @inlinable
  package init(_ isDifferent: @escaping @Sendable (Value, Value) -> Bool) {
    self.isDifferent = isDifferent
  }

  @inlinable
  init(ofEquatable isDifferent: @escaping (Value, Value) -> Bool) {
    self.isDifferent = isDifferent
  }

  @inlinable
  package init() {
    // The cast of `Likeness`, which costs nothing and calls `==` directly where the type is known,
    // lets a conformance through that belongs to an actor, and whose `==` must not be called
    // elsewhere; the one from `Any` does not.
    if let likeness = Likeness<Value>() as? any EquatableLikeness,
      (Value.self as Any) is any (Equatable & SendableMetatype).Type
    {
      self = likeness.difference()
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

/// A difference that is asked where it lies, without a retain; of none, every value is a change.
@usableFromInline
struct Comparison<Value>: ~Copyable, Sendable {
  @usableFromInline let difference: Difference<Value>?

  @inlinable
  init(_ difference: Difference<Value>?) {
    self.difference = difference
  }

  @inlinable @inline(__always)
  borrowing func isChange(from old: Value, to new: Value) -> Bool {
    difference?.isDifferent(old, new) ?? true
  }
}

@usableFromInline
struct Likeness<Value> {
  @inlinable init() {}
}

@usableFromInline
protocol EquatableLikeness {
  /// - Returns: That of the values of `Likeness`, whose type is `Value`.
  func difference<Value>() -> Difference<Value>
}

extension Likeness: EquatableLikeness where Value: Equatable {
  @inlinable
  func difference<Same>() -> Difference<Same> {
    Difference<Same>(ofEquatable: {
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
