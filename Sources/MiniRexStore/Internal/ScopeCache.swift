/// The scopes of a store that somebody holds, by what they look at and how their actions are called.
///
/// Unchecked: guarded by exclusive access to the store.
@usableFromInline
final class ScopeCache: @unchecked Sendable {
  private struct Reference {
    weak var store: AnyObject?
  }

  private var scopes: [ScopeKey: Reference] = [:]

  @usableFromInline init() {}

  var isEmpty: Bool { scopes.isEmpty }

  @usableFromInline
  func find<Scope: AnyObject>(_ key: ScopeKey, as _: Scope.Type) -> Scope? {
    // Whoever has the key has its types.
    scopes[key]?.store.map { unsafe unsafeDowncast($0, to: Scope.self) }
  }

  @usableFromInline
  func remember(_ store: AnyObject, as key: ScopeKey) {
    scopes[key] = Reference(store: store)
  }

  /// Forgets a scope that has gone, unless there is another one in its place.
  func forget(_ key: ScopeKey) {
    if let reference = scopes[key], reference.store == nil { scopes[key] = nil }
  }
}

/// What a scope looks at, and how its actions are called.
///
/// Unchecked: its key path was `Sendable` when it came, and its id is that of a row.
@usableFromInline
struct ScopeKey: Hashable, CustomStringConvertible, @unchecked Sendable {
  @usableFromInline let path: AnyKeyPath
  @usableFromInline let action: ObjectIdentifier
  @usableFromInline let id: AnyHashable?

  @inlinable
  init(path: AnyKeyPath, action: ObjectIdentifier, id: AnyHashable?) {
    self.path = path
    self.action = action
    self.id = id
  }

  /// As a graph calls the scope.
  @usableFromInline
  var description: String { id.map { "\(path) \($0.base)" } ?? "\(path)" }
}
