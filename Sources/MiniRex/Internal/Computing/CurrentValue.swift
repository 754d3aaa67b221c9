/// The way to read the current value of a publisher, and to track its dependencies.
@usableFromInline
package enum CurrentValue<Value: Sendable>: Sendable {
  case property(PropertyStorage<Value>)
  case computed(ComputedNode)
  /// A function of other values, which it reads in the session.
  case derived(@Sendable (ReadSession?) -> Value?)
  /// A value that does not report its changes, and `nil` for kinds without a value.
  case untracked(@Sendable () -> Value?)

  /// No value, for a publisher that emits nothing synchronously.
  @inlinable
  package static var none: CurrentValue { .untracked { nil } }
}

extension Publisher {
  /// Returns the current value, and lets the session track it.
  ///
  /// Without a session, it only reads.
  @inlinable
  func read(in session: ReadSession?) -> Update? {
    switch currentValue {
    case .property(let storage):
      return storage.read(in: session)
    case .computed(let node):
      guard let session else {
        return node.presentValue(of: Update.self) ?? node.current().value(of: Update.self)
      }
      return session.read(node, as: Update.self)
    case .derived(let read):
      return read(session)
    case .untracked(let read):
      guard let session else { return read() }
      return session.readUntracked(self)
    }
  }
}

extension PropertyStorage {
  @inlinable
  func read(in session: ReadSession?) -> Value { session?.read(self) ?? current }
}
