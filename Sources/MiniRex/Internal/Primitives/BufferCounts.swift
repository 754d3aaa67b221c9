/// The number of queued updates in buffers, and the number of dropped ones.
@usableFromInline
struct BufferCounts: Sendable {
  var pending = 0
  var dropped = 0

  static func + (one: BufferCounts, other: BufferCounts) -> BufferCounts {
    BufferCounts(pending: one.pending + other.pending, dropped: one.dropped + other.dropped)
  }
}
