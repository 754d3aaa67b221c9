/// A value that may own the next object of a long chain, and is released by `ReleaseChain`.
@usableFromInline
package struct ChainLink<Content: Sendable>: ~Copyable, Sendable {
  /// Moves the content out, because a copy would be released last, outside the chain.
  @usableFromInline
  struct Kept: ~Copyable, Sendable {
    @usableFromInline var content: Content

    @inlinable
    init(_ content: consuming Content) { self.content = content }

    @inlinable
    consuming func take() -> Content { content }
  }

  @usableFromInline var kept: Kept

  @inlinable
  package init(_ content: consuming Content) { kept = Kept(content) }

  /// Unspecialized in the deinitializer of a generic class, so it names no type whose metadata must be looked up.
  @inlinable
  deinit {
    if _isPOD(Content.self) { return }
    var mark: UInt8 = 0
    let place = unsafe withUnsafePointer(to: &mark) { UInt(bitPattern: $0) }
    if ReleaseChain.begins(at: place) { ReleaseChain.release(kept.take(), at: place) }
  }

  @inlinable
  package var content: Content {
    @inline(__always) _read { yield kept.content }
    @inline(__always) _modify { yield &kept.content }
  }
}

/// A constant that several closures retain.
final class SharedChainLink<Content: Sendable>: Sendable {
  private let link: ChainLink<Content>

  init(_ content: Content) { link = ChainLink(content) }

  var content: Content { link.content }
}
