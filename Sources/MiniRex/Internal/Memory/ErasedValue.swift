/// A value of any type, or none, with a release function specialized for its type.
///
/// A generic class would look up the type of an optional to release it. The value is stored inline
/// if it fits, otherwise in a separate allocation. Invariant: `release` is `nil` if and only if the
/// words are empty. Otherwise they hold a value of the one type that all calls name, or its
/// address.
@usableFromInline @safe
package struct ErasedValue: ~Copyable, Sendable {
  @usableFromInline typealias Words = (UInt, UInt, UInt)

  @usableFromInline var words: Words = (0, 0, 0)
  @usableFromInline var release: (@Sendable (UnsafeMutableRawPointer) -> Void)?

  @inlinable
  package init() {}

  @inlinable
  deinit {
    guard let release = unsafe release else { return }
    var words = words
    unsafe release(&words)
  }

  @inlinable
  static func hasRoom<Value>(for _: Value.Type) -> Bool {
    MemoryLayout<Value>.size <= MemoryLayout<Words>.size
      && MemoryLayout<Value>.alignment <= MemoryLayout<Words>.alignment
  }

  @inlinable @inline(__always)
  static func place<Value>(
    of _: Value.Type, in words: UnsafeMutableRawPointer
  ) -> UnsafeMutablePointer<Value> {
    if hasRoom(for: Value.self) { return unsafe words.assumingMemoryBound(to: Value.self) }
    return unsafe words.load(as: UnsafeMutablePointer<Value>.self)
  }

  @inlinable var isEmpty: Bool { unsafe release == nil }

  @inlinable
  package func value<Value>(of _: Value.Type) -> Value? {
    if isEmpty { return nil }
    var words = words
    return unsafe ErasedValue.place(of: Value.self, in: &words).pointee
  }

  /// Removes the value.
  @inlinable
  package mutating func take<Value>(_: Value.Type) -> Value? {
    if isEmpty { return nil }
    unsafe release = nil
    let place = unsafe ErasedValue.place(of: Value.self, in: &words)
    let value = unsafe place.move()
    if !ErasedValue.hasRoom(for: Value.self) { unsafe place.deallocate() }
    return value
  }

  /// - Returns: The previous value, which the caller releases outside the lock.
  @inlinable
  package mutating func replace<Value: Sendable>(by value: Value) -> Value? {
    if !isEmpty {
      let replaced = unsafe ErasedValue.place(of: Value.self, in: &words)
      var value = value
      unsafe swap(&replaced.pointee, &value)
      return value
    }
    if !ErasedValue.hasRoom(for: Value.self) {
      let place = UnsafeMutablePointer<Value>.allocate(capacity: 1)
      words.0 = UInt(bitPattern: place)
    }
    unsafe ErasedValue.place(of: Value.self, in: &words).initialize(to: value)
    unsafe release = { words in
      let place = unsafe ErasedValue.place(of: Value.self, in: words)
      // A result may own the next task of a chain.
      var value: Value? = unsafe place.move()
      if !ErasedValue.hasRoom(for: Value.self) { unsafe place.deallocate() }
      if !_isPOD(Value.self) { ReleaseChain.release(&value) }
    }
    return nil
  }
}
