/// A constant that may own the next object of a long chain, and is released by `ReleaseChain`.
@usableFromInline
package struct ChainLink<Content: Sendable>: ~Copyable, Sendable {
  /// Moves the content out, because a copy would be released last, outside the chain.
  @usableFromInline
  struct Kept: ~Copyable, Sendable {
    @usableFromInline let content: Content

    @inlinable
    init(_ content: Content) { self.content = content }

    @inlinable
    consuming func take() -> Content { content }
  }

  @usableFromInline let kept: Kept

  @inlinable
  package init(_ content: Content) { kept = Kept(content) }

  @inlinable
  deinit {
    var content: Content? = kept.take()
    ReleaseChain.release(&content)
  }

  @inlinable
  package var content: Content {
    @inline(__always) _read { yield kept.content }
  }
}
