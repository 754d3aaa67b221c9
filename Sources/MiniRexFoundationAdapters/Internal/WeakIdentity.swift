/// The identity of an object, which never matches a later object at the same address.
///
/// Unchecked, because the object need not be `Sendable`: only its identity is used. The reference
/// is loaded only while the caller holds an object at the same address. The loaded object, if any,
/// is that object, and is not deallocated here.
struct WeakIdentity: @unchecked Sendable {
  private let address: ObjectIdentifier
  private weak let object: AnyObject?

  init(_ object: AnyObject) {
    address = ObjectIdentifier(object)
    self.object = object
  }

  func isSame(as other: AnyObject) -> Bool {
    address == ObjectIdentifier(other) && object === other
  }
}
