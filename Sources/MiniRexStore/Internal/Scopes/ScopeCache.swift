/// The scopes of a store that are in use, by key.
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

  /// The scopes that are not released.
  var inUse: [ScopeInUse] {
    scopes.compactMap { key, reference in
      (reference.store as? any ScopeParent).map { (key.path, $0) }
    }
  }

  @usableFromInline
  func find<Scope: AnyObject>(_ key: ScopeKey, as _: Scope.Type) -> Scope? {
    // The key determines the types.
    scopes[key]?.store.map { unsafe unsafeDowncast($0, to: Scope.self) }
  }

  @usableFromInline
  func remember(_ store: AnyObject, as key: ScopeKey) {
    scopes[key] = Reference(store: store)
  }

  /// Removes a released scope, unless another scope has replaced it.
  func forget(_ key: ScopeKey) {
    if let reference = scopes[key], reference.store == nil { scopes[key] = nil }
  }
}

/// The identity of a scope: its key path, its action type, and the ID of a row.
///
/// Unchecked: the key path was `Sendable` on creation, and row IDs are `Sendable`.
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

  /// The name of the scope in a graph.
  @usableFromInline
  var description: String { id.map { "\(path) \($0.base)" } ?? "\(path)" }
}
