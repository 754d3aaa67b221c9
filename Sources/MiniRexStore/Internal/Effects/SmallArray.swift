/// An array that stores its first element without an allocation.
@usableFromInline
struct SmallArray<Element>: ~Copyable {
  @usableFromInline var first: Element?
  @usableFromInline var others: [Element]?

  @inlinable init() {}

  @inlinable
  init(_ first: Element?, _ others: [Element]?) {
    self.first = first
    self.others = others
  }

  @inlinable var isEmpty: Bool { first == nil }

  @inlinable var count: Int { first == nil ? 0 : 1 + (others?.count ?? 0) }

  @inlinable var all: [Element] { first.map { [$0] + (others ?? []) } ?? [] }

  @inlinable
  mutating func append(_ element: Element) {
    if first == nil {
      first = element
    } else if others == nil {
      others = [element]
    } else {
      others?.append(element)
    }
  }

  /// Removes and returns all elements.
  @inlinable
  mutating func take() -> SmallArray { SmallArray(first.take(), others.take()) }

  @inlinable
  consuming func callEach(_ body: (Element) -> Void) {
    guard let first else { return }
    body(first)
    others?.forEach(body)
  }
}

extension SmallArray: Sendable where Element: Sendable {}
