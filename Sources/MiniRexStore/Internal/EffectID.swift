/// An id of the user's, equal to another of the same type and value: `1`, `1.0` and `"1"` are three.
///
/// That of a part which may go is another one than the same in the whole, or in another part.
/// Its `hash` and `==` are the user's, so it is compared with exclusive access, and never under a lock.
/// An object, so that an event that names it is copied without asking its type how.
@usableFromInline
final class EffectID: Hashable, Sendable {
  let value: any Hashable & Sendable
  private let part: PartEntry?

  @usableFromInline
  init(_ value: some Hashable & Sendable) {
    self.value = value
    part = nil
  }

  private init(_ id: EffectID, of part: PartEntry) {
    value = id.value
    self.part = part
  }

  /// What it is where it belongs.
  @usableFromInline
  func of(_ part: PartEntry?) -> EffectID {
    part.map { EffectID(self, of: $0) } ?? self
  }

  @usableFromInline
  static func == (one: EffectID, other: EffectID) -> Bool {
    func isEqual<Value: Hashable>(_ value: Value) -> Bool {
      type(of: value) == type(of: other.value) && value == other.value as? Value
    }
    return one.part === other.part && isEqual(one.value)
  }

  @usableFromInline
  func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(type(of: value)))
    value.hash(into: &hasher)
  }
}
