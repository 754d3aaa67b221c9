/// A FIFO queue.
///
/// Amortized O(1) at both ends. It releases large memory after a burst.
@usableFromInline
package struct Queue<Element> {
  /// A ring buffer.
  ///
  /// Its size is zero or a power of two.
  @usableFromInline var ring: [Element?] = []
  @usableFromInline var head = 0
  @usableFromInline package var count = 0

  @inlinable
  package init() {}

  @inlinable
  package var first: Element? { count == 0 ? nil : ring[head] }

  @inlinable
  package mutating func append(_ element: Element) {
    if count == ring.count { grow() }
    ring[(head + count) & (ring.count - 1)] = element
    count += 1
  }

  @inlinable
  package mutating func popFirst() -> Element? {
    if count == 0 { return nil }
    let element = ring[head].take()
    head = (head + 1) & (ring.count - 1)
    count -= 1
    if count == 0, ring.count > 1_024 { self = Queue() }
    return element
  }

  @inlinable
  package mutating func popLast() -> Element? {
    if count == 0 { return nil }
    count -= 1
    return ring[(head + count) & (ring.count - 1)].take()
  }

  /// The elements, first element first.
  package var elements: [Element] {
    (0..<count).compactMap { ring[(head + $0) & (ring.count - 1)] }
  }

  @inlinable
  mutating func grow() {
    var larger = [Element?](repeating: nil, count: max(8, ring.count * 2))
    for index in 0..<count {
      larger[index] = ring[(head + index) & (ring.count - 1)].take()
    }
    ring = larger
    head = 0
  }
}

extension Queue: Sendable where Element: Sendable {}
