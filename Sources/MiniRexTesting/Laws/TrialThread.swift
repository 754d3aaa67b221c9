#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#endif

/// Runs the body on a separate thread, because it may hang and a Swift task must not.
func startThread(_ body: @escaping @Sendable () -> Void) {
  let start = unsafe Unmanaged.passRetained(ThreadStart(body)).toOpaque()
  #if canImport(Darwin)
  var thread: pthread_t?
  unsafe pthread_create(
    &thread, nil,
    { start in
      unsafe run(start)
      return nil
    }, start)
  if let thread = unsafe thread { unsafe pthread_detach(thread) }
  #else
  var thread = pthread_t()
  unsafe pthread_create(
    &thread, nil,
    { start in
      // The pointers are optional on some platforms.
      if let start = unsafe start as UnsafeMutableRawPointer? { unsafe run(start) }
      return unsafe start
    }, start)
  pthread_detach(thread)
  #endif
}

private func run(_ start: UnsafeMutableRawPointer) {
  unsafe Unmanaged<ThreadStart>.fromOpaque(start).takeRetainedValue().body()
}

private final class ThreadStart: Sendable {
  let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Yields to other threads in a short polling loop.
func lookAgainNow() {
  sched_yield()
}

/// Sleeps for 100 microseconds in a polling loop.
func lookAgainSoon() {
  usleep(100)
}
