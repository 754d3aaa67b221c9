/// A list that nearly always has one element, which it then keeps without an allocation.
@usableFromInline
struct Few<Element>: ~Copyable {
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

  /// - Returns: All there are; then it is empty.
  @inlinable
  mutating func take() -> Few { Few(first.take(), others.take()) }

  @inlinable
  consuming func callEach(_ body: (Element) -> Void) {
    guard let first else { return }
    body(first)
    others?.forEach(body)
  }
}

extension Few: Sendable where Element: Sendable {}
