internal import CNATS

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// libnats, opened once for the process, with its pool of threads that call.
enum Library {
  static let isOpen: Bool = {
    let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    return nats_Open(-1) == NATS_OK
      && nats_SetMessageDeliveryPoolSize(Int32(max(4, processors))) == NATS_OK
  }()
}
