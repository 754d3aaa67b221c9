// The runtime of Objective-C lets an object keep things that go when it goes.
#if canImport(ObjectiveC)
  internal import Foundation
  internal import MiniRex
  internal import ObjectiveC

  /// Calls when the object is released, unless the token has ended before.
  func onRelease(of object: NSObject, _ end: @escaping @Sendable () -> Void) -> Subscription {
    let call = CallOnRelease(end)
    // Its address is a key that nobody else has, as long as the object keeps it.
    let key = unsafe UnsafeRawPointer(Unmanaged.passUnretained(call).toOpaque())
    unsafe objc_setAssociatedObject(object, key, call, .OBJC_ASSOCIATION_RETAIN)
    return Subscription { [weak call] in call?.disarm() }
  }

  /// What is left of it in the object when it is disarmed is small.
  private final class CallOnRelease: Sendable {
    private let end: Lock<(@Sendable () -> Void)?>

    init(_ end: @escaping @Sendable () -> Void) {
      self.end = Lock(end)
    }

    deinit {
      let end = end.withLock { $0.take() }
      end?()
    }

    func disarm() {
      // Released when this returns, after the lock.
      _ = end.withLock { $0.take() }
    }
  }
#endif
