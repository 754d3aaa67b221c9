/// The location of a child in a store's state, independent of types.
@usableFromInline
protocol AnyPlace: AnyObject, Sendable {
  /// The innermost removable child on the path, including the child itself.
  ///
  /// `nil` if there is none.
  var entry: Presence? { get }
}

/// The location of a child in a store's state.
///
/// Unchecked: all properties are constant except `madePath`, which is guarded by exclusive access to
/// the store. Every stored key path is combined from `Sendable` key paths.
@usableFromInline
final class ChildPath<Root: Sendable, Child>: AnyPlace, @unchecked Sendable {
  /// Creates `path`, which most children never need.
  private let makePath: @Sendable () -> WritableKeyPath<Root, Child>
  @safe @exclusivity(unchecked) private var madePath: WritableKeyPath<Root, Child>?
  /// Reads the child from any state of the store.
  @usableFromInline let read: @Sendable (Root) -> Child?
  /// The offset in the memory of the root.
  ///
  /// `nil` if the child is computed or removable.
  @usableFromInline let offset: Int?
  /// The key path from the removable child of `entry`.
  ///
  /// `nil` for that child itself.
  @usableFromInline let key: (any AnyKeyPath & Sendable)?
  @usableFromInline let child: PresenceIn<Root>?

  @usableFromInline var entry: Presence? { child }

  @usableFromInline
  init(
    _ path: @autoclosure @escaping @Sendable () -> WritableKeyPath<Root, Child>,
    in child: PresenceIn<Root>?, _ key: (any AnyKeyPath & Sendable)?, at offset: Int? = nil,
    read: @escaping @Sendable (Root) -> Child?
  ) {
    makePath = path
    self.child = child
    self.key = key
    self.offset = offset
    self.read = read
  }

  /// The key path from the root.
  ///
  /// Needs exclusive access and a present child.
  @usableFromInline
  var path: WritableKeyPath<Root, Child> {
    if let path = madePath { return path }
    let path = makePath()
    madePath = path
    return path
  }

  /// Calls `body` with the child, without a copy if it is stored in the root.
  ///
  /// Returns `nil` if the child is missing.
  @inlinable @inline(__always)
  func look<Result>(at root: Root, _ body: (Child) -> Result) -> Result? {
    guard let offset else { return read(root).map(body) }
    return unsafe withUnsafePointer(to: root) { root in
      unsafe body((UnsafeRawPointer(root) + offset).assumingMemoryBound(to: Child.self).pointee)
    }
  }

  @usableFromInline
  func appending<Inner>(_ inner: WritableKeyPath<Child, Inner>) -> WritableKeyPath<Root, Inner> {
    // The entire root has the same types, so no key path is created.
    if key == nil, child == nil {
      return unsafe unsafeDowncast(inner, to: WritableKeyPath<Root, Inner>.self)
    }
    return path.appending(path: inner)
  }

  /// Restores the `Sendable` conformance of a combined key path.
  func sendable(_ path: AnyKeyPath) -> any AnyKeyPath & Sendable {
    unsafe unsafeBitCast(path, to: (any AnyKeyPath & Sendable).self)
  }

  /// The table of the innermost removable child, or of the root.
  @usableFromInline
  func table(in root: PresenceTable<Root>) -> PresenceTable<Root> { child?.table ?? root }

  /// The key path of a value in the child, relative to the removable child of `entry`.
  @usableFromInline
  func key(of path: any AnyKeyPath & Sendable) -> any AnyKeyPath & Sendable {
    (key as AnyKeyPath?)?.appending(path: path as AnyKeyPath).map(sendable) ?? path
  }
}

extension ChildPath where Child == Root {
  /// The path to the entire state.
  static var root: ChildPath { ChildPath(\.self, in: nil, nil, at: 0) { $0 } }
}
