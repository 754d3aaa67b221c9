/// A reference to an object that its user keeps in memory otherwise, without a retain.
@usableFromInline @safe
package struct UnretainedReference<Object: AnyObject> {
  @usableFromInline let object: Unmanaged<Object>

  @inlinable
  package init(_ object: Object) {
    unsafe self.object = Unmanaged.passUnretained(object)
  }

  /// Unique while the object is in memory.
  var address: UInt { unsafe UInt(bitPattern: object.toOpaque()) }

  @inlinable @inline(__always)
  package func use<Result>(_ body: (Object) -> Result) -> Result {
    unsafe object._withUnsafeGuaranteedRef { body($0) }
  }
}

extension UnretainedReference: Sendable where Object: Sendable {}
