internal import MiniRex

/// The scopes over children at one key path, for an inspector.
package struct ScopeStatus: Sendable {
  /// The description of the key path.
  package let path: String
  /// The number of scopes in use.
  ///
  /// The rows of a collection have one each.
  package let count: Int
  /// The scopes of these scopes, sorted by path.
  package let children: [ScopeStatus]
}

/// A store, without its types.
@usableFromInline
protocol ScopeParent: AnyObject, Sendable {
  var isActive: Bool { get }
  var scopesInUse: [ScopeInUse] { get }
}

@usableFromInline typealias ScopeInUse = (path: AnyKeyPath, scope: any ScopeParent)

extension Store: ScopeParent {
  /// The scopes in use, grouped by key path.
  ///
  /// Complexity: O(n), for n scopes in use.
  package var scopeTree: [ScopeStatus] { statuses(of: scopesInUse) }

  /// The caller releases the scopes without exclusive access.
  @usableFromInline var scopesInUse: [ScopeInUse] {
    switch backing {
    case .root(let storage): storage.withAccess { storage.inside.registry?.scopes.inUse ?? [] }
    case .scope(let scope): scope.scopesInUse
    }
  }
}

private func statuses(of scopes: [ScopeInUse]) -> [ScopeStatus] {
  Dictionary(grouping: scopes.filter(\.scope.isActive)) { $0.path }
    .map { path, scopes in
      ScopeStatus(
        path: "\(path)", count: scopes.count,
        children: statuses(of: scopes.flatMap(\.scope.scopesInUse)))
    }
    .sorted { $0.path < $1.path }
}
