/// Tells a change from a duplicate, the way its type asks for.
///
/// An `Equatable` value differs when `!=` says so, an object that is not `Equatable` when it is
/// another object, anything else always. The choice is made from the type that `Value` really is,
/// so that generic code compares as well as any other.
///
/// Unchecked: `isChange` is `@Sendable`, or the type's own `==`, which belongs to no actor.
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

  @inlinable
  package init() {
    // The cast of `EqualityProbe`, which costs nothing and calls `==` directly where the type is
    // known, lets a conformance through that belongs to an actor, and whose `==` must not be called
    // elsewhere; the one from `Any` does not.
    if let probe = EqualityProbe<Value>() as? any EquatableProbe,
      (Value.self as Any) is any (Equatable & SendableMetatype).Type
    {
      self = probe.changeTest()
    } else if let optional = Value.self as? any (AnyOptional & SendableMetatype).Type {
      isChange = optionalTest(optional)
    } else {
      isChange = objectTest()
    }
  }

  @inlinable @inline(__always)
  package func callAsFunction(_ old: Value, _ new: Value) -> Bool {
    isChange(old, new)
  }
}

/// A difference that is asked where it lies, without a retain; of none, every value is a change.
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
  /// - Returns: That of the values of `EqualityProbe`, whose type is `Value`.
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
func objectTest<Value>() -> @Sendable (Value, Value) -> Bool {
  { old, new in
    guard isObject(old), isObject(new) else { return true }
    return old as AnyObject !== new as AnyObject
  }
}

/// An `any` type may hold an object too.
private func isObject<Value>(_ value: Value) -> Bool {
  type(of: value as Any) is AnyObject.Type
}
