/// One resource of a family.
///
/// Unchecked: the lock of the family guards the only variable.
final class FamilyEntry<Key: Sendable, Value: Sendable, Failure: Error>: @unchecked Sendable {
  let id: Int
  let key: Key
  let core: ResourceCore<Value, Failure>
  /// The object of the user.
  @exclusivity(unchecked) weak var resource: Resource<Value, Failure>?

  init(_ id: Int, _ key: Key, _ core: ResourceCore<Value, Failure>) {
    self.id = id
    self.key = key
    self.core = core
  }
}
