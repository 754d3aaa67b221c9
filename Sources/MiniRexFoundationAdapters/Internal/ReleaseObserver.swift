// The Objective-C runtime lets an object retain associated objects until its deallocation.
#if canImport(ObjectiveC)
internal import Foundation
internal import MiniRex
internal import ObjectiveC

/// Runs `end` when the object is deallocated, unless the subscription is canceled before.
func onRelease(of object: NSObject, _ end: @escaping @Sendable () -> Void) -> Subscription {
  let call = ReleaseObserver(end)
  // The address of the observer is a unique key while the object retains it.
  let key = unsafe UnsafeRawPointer(Unmanaged.passUnretained(call).toOpaque())
  unsafe objc_setAssociatedObject(object, key, call, .OBJC_ASSOCIATION_RETAIN)
  return Subscription { [weak call] in call?.disarm() }
}

/// Only this small object stays in the observed object after a cancellation.
private final class ReleaseObserver: Sendable {
  private let end: Lock<(@Sendable () -> Void)?>

  init(_ end: @escaping @Sendable () -> Void) {
    self.end = Lock(end)
  }

  deinit {
    let end = end.withLock { $0.take() }
    end?()
  }

  func disarm() {
    // The value is released after the lock, when this function returns.
    _ = end.withLock { $0.take() }
  }
}
#endif
