/// An object that somebody else keeps for as long as this is used, found without a retain.
@usableFromInline @safe
package struct Borrowed<Object: AnyObject & Sendable>: Sendable {
  @usableFromInline let object: Unmanaged<Object>

  @inlinable
  package init(_ object: Object) {
    unsafe self.object = Unmanaged.passUnretained(object)
  }

  @inlinable @inline(__always)
  package func use<Result>(_ body: (Object) -> Result) -> Result {
    unsafe object._withUnsafeGuaranteedRef { body($0) }
  }
}
