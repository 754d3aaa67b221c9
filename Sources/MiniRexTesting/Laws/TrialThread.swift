#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#endif

/// Runs the body on a thread of its own, which may hang: a Swift task must not.
func startThread(_ body: @escaping @Sendable () -> Void) {
  let start = unsafe Unmanaged.passRetained(ThreadStart(body)).toOpaque()
  #if canImport(Darwin)
    var thread: pthread_t?
    unsafe pthread_create(&thread, nil, { unsafe run($0) }, start)
    if let thread = unsafe thread { unsafe pthread_detach(thread) }
  #else
    var thread = pthread_t()
    unsafe pthread_create(
      &thread, nil, { start in unsafe start.flatMap { unsafe run($0) } }, start)
    pthread_detach(thread)
  #endif
}

private func run(_ start: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
  unsafe Unmanaged<ThreadStart>.fromOpaque(start).takeRetainedValue().body()
  return nil
}

private final class ThreadStart: Sendable {
  let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// Lets other threads run before the caller looks again, which it does often.
func lookAgainNow() {
  sched_yield()
}

/// Sleeps a little before the caller looks again.
func lookAgainSoon() {
  usleep(100)
}
