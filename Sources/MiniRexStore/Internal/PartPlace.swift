/// Where a part lies in the state of a store, whatever the types.
@usableFromInline
class AnyPlace: @unchecked Sendable {
  /// The next part around it, or itself, that may go; `nil` if it is always there.
  @usableFromInline final let entry: PartEntry?

  @usableFromInline
  init(_ entry: PartEntry?) {
    self.entry = entry
  }
}

/// Where a part lies in the state of a store.
///
/// Unchecked: it is constant but for `madePath`, which is guarded by exclusive access to the store, and its
/// key paths are made of such as are `Sendable`.
@usableFromInline
final class PartPlace<Root: Sendable, Part>: AnyPlace, @unchecked Sendable {
  /// Makes `path`, which most never need.
  private let makePath: @Sendable () -> WritableKeyPath<Root, Part>
  @exclusivity(unchecked) private var madePath: WritableKeyPath<Root, Part>?
  /// For any state that the store has had.
  @usableFromInline let read: @Sendable (Root) -> Part?
  /// Where it lies in the memory of the root; `nil` if it is computed, or may go.
  @usableFromInline let offset: Int?
  /// Where it lies in the part of its entry; `nil` for that part itself.
  @usableFromInline let key: AnyKeyPath?
  @usableFromInline let part: PartOfRoot<Root>?

  @usableFromInline
  init(
    _ path: @autoclosure @escaping @Sendable () -> WritableKeyPath<Root, Part>,
    in part: PartOfRoot<Root>?, _ key: AnyKeyPath?, at offset: Int? = nil,
    read: @escaping @Sendable (Root) -> Part?
  ) {
    makePath = path
    self.part = part
    self.key = key
    self.offset = offset
    self.read = read
    super.init(part)
  }

  /// For whom has exclusive access, and knows that the part is there.
  @usableFromInline
  var path: WritableKeyPath<Root, Part> {
    if let path = unsafe madePath { return path }
    let path = makePath()
    unsafe madePath = path
    return path
  }

  /// Looks at the part where it lies, without a copy if it is stored there; `nil` if it is not there.
  @inlinable @inline(__always)
  func look<Result>(at root: Root, _ body: (Part) -> Result) -> Result? {
    guard let offset else { return read(root).map(body) }
    return unsafe withUnsafePointer(to: root) { root in
      unsafe body((UnsafeRawPointer(root) + offset).assumingMemoryBound(to: Part.self).pointee)
    }
  }

  @usableFromInline
  func appending<Inner>(_ inner: WritableKeyPath<Part, Inner>) -> WritableKeyPath<Root, Inner> {
    // All of a root: the same types, and a path that needs not be made.
    if key == nil, part == nil {
      return unsafe unsafeDowncast(inner, to: WritableKeyPath<Root, Inner>.self)
    }
    return path.appending(path: inner)
  }

  /// Of key paths that are.
  func sendable<Value>(
    _ path: WritableKeyPath<Root, Value>
  ) -> any WritableKeyPath<Root, Value> & Sendable {
    unsafe unsafeBitCast(path, to: (any WritableKeyPath<Root, Value> & Sendable).self)
  }

  /// The parts around which nothing may go that does not take this one with it.
  @usableFromInline
  func table(in root: PartTable<Root>) -> PartTable<Root> { part?.table ?? root }

  /// Where something in it lies in the part of its entry.
  @usableFromInline
  func key(of path: AnyKeyPath) -> AnyKeyPath { key?.appending(path: path) ?? path }
}

extension PartPlace where Part == Root {
  /// All of it.
  static var whole: PartPlace { PartPlace(\.self, in: nil, nil, at: 0) { $0 } }
}
