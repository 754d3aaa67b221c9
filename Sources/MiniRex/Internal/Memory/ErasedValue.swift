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
  @usableFromInline var release: (@Sendable (UnsafeMutablePointer<Words>) -> Void)?

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

  /// Returns the address of the value, which is valid as long as the address of the words.
  ///
  /// The address of a separate allocation is read as a number: the optimizer of Swift 6.3 removes the store of a number
  /// that is read as a pointer.
  @inlinable @inline(__always)
  static func place<Value>(
    of _: Value.Type, in words: UnsafeMutablePointer<Words>
  ) -> UnsafeMutablePointer<Value> {
    if hasRoom(for: Value.self) {
      return unsafe UnsafeMutableRawPointer(words).assumingMemoryBound(to: Value.self)
    }
    guard let place = unsafe UnsafeMutablePointer<Value>(bitPattern: words.pointee.0) else {
      misuse("An 'ErasedValue' has no address.")
    }
    return unsafe place
  }

  @inlinable var isEmpty: Bool { unsafe release == nil }

  @inlinable
  package func value<Value>(of _: Value.Type) -> Value? {
    if isEmpty { return nil }
    var words = words
    return unsafe withUnsafeMutablePointer(to: &words) {
      unsafe ErasedValue.place(of: Value.self, in: $0).pointee
    }
  }

  /// Removes the value.
  @inlinable
  package mutating func take<Value>(_: Value.Type) -> Value? {
    if isEmpty { return nil }
    unsafe release = nil
    return unsafe withUnsafeMutablePointer(to: &words) { words in
      let place = unsafe ErasedValue.place(of: Value.self, in: words)
      let value = unsafe place.move()
      if !ErasedValue.hasRoom(for: Value.self) { unsafe place.deallocate() }
      return value
    }
  }

  /// - Returns: The previous value, which the caller releases outside the lock.
  @inlinable
  package mutating func replace<Value: Sendable>(by value: Value) -> Value? {
    if !isEmpty {
      var value = value
      unsafe withUnsafeMutablePointer(to: &words) {
        unsafe swap(&ErasedValue.place(of: Value.self, in: $0).pointee, &value)
      }
      return value
    }
    if !ErasedValue.hasRoom(for: Value.self) {
      let place = UnsafeMutablePointer<Value>.allocate(capacity: 1)
      words.0 = UInt(bitPattern: place)
    }
    unsafe withUnsafeMutablePointer(to: &words) {
      unsafe ErasedValue.place(of: Value.self, in: $0).initialize(to: value)
    }
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
