/// A weak reference to an object that need not be `Sendable`.
///
/// Unchecked: each user states why its use of the object is safe on any thread.
struct WeakReference<Object: AnyObject>: @unchecked Sendable {
  weak let object: Object?

  init(_ object: Object?) {
    self.object = object
  }
}

/// The identity of an object, which never matches a later object at the same address.
///
/// Only the identity is used. The reference is loaded only while the caller holds an object at the
/// same address. The loaded object, if any, is that object, and is not deallocated here.
struct WeakIdentity: Sendable {
  private let address: ObjectIdentifier
  private let reference: WeakReference<AnyObject>

  init(_ object: AnyObject) {
    address = ObjectIdentifier(object)
    reference = WeakReference(object)
  }

  func isSame(as other: AnyObject) -> Bool {
    address == ObjectIdentifier(other) && reference.object === other
  }
}
