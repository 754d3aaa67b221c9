/// Remembers which object it was, and never takes another one for it that has its address since.
///
/// Unchecked, because the object need not be `Sendable`: it is only asked who it is. The reference
/// is looked at only while the caller holds an object at the same address, so if there is one, it
/// is that, and is not released here.
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
