/// One resource of a family.
final class FamilyEntry<Key: Sendable, Value: Sendable, Failure: Error>: Sendable {
  struct User: Sendable {
    weak var resource: Resource<Value, Failure>?
  }

  let id: Int
  let key: Key
  let core: ResourceCore<Value, Failure>
  /// The object of the user.
  let user = Lock(User())

  init(_ id: Int, _ key: Key, _ core: ResourceCore<Value, Failure>) {
    self.id = id
    self.key = key
    self.core = core
  }
}
