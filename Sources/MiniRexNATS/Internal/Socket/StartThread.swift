#if NATS
#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Starts a thread that receives no signals of the process.
///
/// Work that waits for the network runs here: on a queue of Dispatch it would occupy a thread of
/// the pool that runs Swift tasks.
///
/// - Returns: `false` if the system has no thread available.
func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
  final class Start: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var (all, before) = (sigset_t(), sigset_t())
  sigfillset(&all)
  pthread_sigmask(SIG_SETMASK, &all, &before)
  defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
  var thread = pthread_t()
  let start = Unmanaged.passRetained(Start(body))
  let error = pthread_create(
    &thread, nil,
    { argument in
      if let argument { Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body() }
      return nil
    }, start.toOpaque())
  if error != 0 {
    start.release()
    return false
  }
  pthread_detach(thread)
  return true
}
#endif
