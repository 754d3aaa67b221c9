/// A callback that can be called in place, without a retain.
@usableFromInline
package struct Callback<Update>: ~Copyable {
  @usableFromInline let receive: @Sendable (Update) -> Void

  @inlinable @inline(__always)
  init(_ receive: consuming @escaping @Sendable (Update) -> Void) {
    self.receive = receive
  }

  @inlinable @inline(__always)
  package borrowing func callAsFunction(_ update: Update) {
    receive(update)
  }
}

/// A callback on its way into or out of the table.
///
/// Its holder must release it.
///
/// Two words, because closures may be moved bit by bit. Two zeros represent none.
@usableFromInline
package struct ErasedCallback: Sendable {
  @usableFromInline var words: (UInt, UInt)

  static var none: ErasedCallback { ErasedCallback(words: (0, 0)) }

  init(words: (UInt, UInt)) {
    self.words = words
  }

  /// Takes ownership of the closure, without a retain or a release.
  @inlinable @inline(__always)
  package init<Update>(_ receive: consuming @escaping @Sendable (Update) -> Void) {
    words = (0, 0)
    unsafe ErasedCallback.move(receive, to: &words)
  }

  @inlinable @inline(__always)
  static func move<Update>(
    _ receive: consuming @escaping @Sendable (Update) -> Void, to place: UnsafeMutableRawPointer
  ) {
    unsafe place.initializeMemory(as: Callback<Update>.self, to: Callback(receive))
  }

  /// Returns the closure, and gives up its ownership.
  @inlinable @inline(__always)
  package func take<Update>(for _: Update.Type) -> @Sendable (Update) -> Void {
    var words = words
    return unsafe withUnsafeMutablePointer(to: &words) { words in
      let place = UnsafeMutableRawPointer(words)
      return unsafe place.assumingMemoryBound(to: Callback<Update>.self).move().receive
    }
  }

  /// Releases the captures of the callback.
  ///
  /// User code may run: never call it under a lock.
  @inline(__always)
  package mutating func release() {
    if words.0 == 0 { return }
    let place = unsafe withUnsafePointer(to: &words) { UInt(bitPattern: $0) }
    if ReleaseChain.begins(at: place) {
      ReleaseChain.release(self, at: place)
    } else {
      releaseNow()
    }
  }

  /// Closures of all types are released in the same way.
  ///
  /// Their parameter type does not matter.
  @inline(__always)
  mutating func releaseNow() {
    unsafe withUnsafeMutablePointer(to: &words) { words in
      let place = UnsafeMutableRawPointer(words)
      unsafe place.assumingMemoryBound(to: Callback<Void>.self).deinitialize(count: 1)
    }
  }
}
