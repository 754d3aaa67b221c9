#if canImport(FoundationEssentials)
internal import CLibrary
internal import FoundationEssentials

/// Runs the body on a separate thread, which may block.
///
/// It replaces the `Thread` of Foundation.
func detachThread(_ body: @escaping @Sendable () -> Void) throws(POSIXError) {
  let start = unsafe Unmanaged.passRetained(ThreadStart(body))
  var thread = pthread_t()
  let error = unsafe pthread_create(
    &thread, nil,
    { start in
      // The pointers are optional on some platforms. The result of a detached thread is ignored.
      if let start = unsafe start as UnsafeMutableRawPointer? {
        unsafe Unmanaged<ThreadStart>.fromOpaque(start).takeRetainedValue().body()
      }
      return unsafe start
    }, start.toOpaque())
  if error != 0 {
    unsafe start.release()
    throw POSIXError(errno: error)
  }
  pthread_detach(thread)
}

private final class ThreadStart: Sendable {
  let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
#else
internal import Foundation

func detachThread(_ body: @escaping @Sendable () -> Void) throws(POSIXError) {
  Thread.detachNewThread(body)
}
#endif
