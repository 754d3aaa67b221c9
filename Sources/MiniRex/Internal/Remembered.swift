/// A value of any type, or none, that is released by code made for its type.
///
/// An optional in a generic class is not: to release it, the class looks its type up each time.
/// The value lies here if it has room, else in memory of its own. Invariant: `release` is `nil`, or
/// the words hold a value of the one type that all calls name, or its address. Unchecked: whoever
/// has it guards it, as `TaskStorage` does with a lock, and puts in what is `Sendable`.
@usableFromInline @safe
package struct Remembered: ~Copyable, @unchecked Sendable {
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
    return unsafe Remembered.place(of: Value.self, in: &words).pointee
  }

  /// Leaves none.
  @inlinable
  package mutating func take<Value>(_: Value.Type) -> Value? {
    if isEmpty { return nil }
    unsafe release = nil
    let place = unsafe Remembered.place(of: Value.self, in: &words)
    let value = unsafe place.move()
    if !Remembered.hasRoom(for: Value.self) { unsafe place.deallocate() }
    return value
  }

  /// - Returns: The value that was there before, which the caller releases where it may.
  @inlinable
  package mutating func replace<Value>(by value: Value) -> Value? {
    if !isEmpty {
      let replaced = unsafe Remembered.place(of: Value.self, in: &words)
      var value = value
      unsafe swap(&replaced.pointee, &value)
      return value
    }
    if !Remembered.hasRoom(for: Value.self) {
      let place = UnsafeMutablePointer<Value>.allocate(capacity: 1)
      words.0 = UInt(bitPattern: place)
    }
    unsafe Remembered.place(of: Value.self, in: &words).initialize(to: value)
    unsafe release = { words in
      let place = unsafe Remembered.place(of: Value.self, in: words)
      unsafe place.deinitialize(count: 1)
      if !Remembered.hasRoom(for: Value.self) { unsafe place.deallocate() }
    }
    return nil
  }
}
