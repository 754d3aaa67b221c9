/// A user's ID, equal to another ID of the same type and value: `1`, `1.0`, and `"1"` differ.
///
/// IDs of different children differ. `hash` and `==` are user code, so IDs are compared with
/// exclusive access and never under a lock. A class, so that copying an event with an ID needs no
/// witness table.
@usableFromInline
final class EffectID: Hashable, Sendable {
  let value: any Hashable & Sendable
  private let child: Presence?

  @usableFromInline
  init(_ value: some Hashable & Sendable) {
    self.value = value
    child = nil
  }

  private init(_ id: EffectID, of child: Presence) {
    value = id.value
    self.child = child
  }

  /// Returns the ID, made local to the given child.
  @usableFromInline
  func of(_ child: Presence?) -> EffectID {
    child.map { EffectID(self, of: $0) } ?? self
  }

  @usableFromInline
  static func == (one: EffectID, other: EffectID) -> Bool {
    func isEqual<Value: Hashable>(_ value: Value) -> Bool {
      type(of: value) == type(of: other.value) && value == other.value as? Value
    }
    return one.child === other.child && isEqual(one.value)
  }

  @usableFromInline
  func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(type(of: value)))
    value.hash(into: &hasher)
  }
}
