#if NATS
internal import CNATS
internal import Dispatch

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The libnats library, opened once per process, with its pool of delivery threads.
enum LibNATS {
  /// The number of delivery threads.
  ///
  /// libnats assigns them to subscriptions in turn, and starts a thread when it first needs it. A
  /// callback that blocks delays every 64th subscription, so a small pool would delay many.
  static let poolSize: Int32 = 64

  static let isOpen: Bool = {
    keepOpenSSL()
    HandshakeObserver.start()
    return nats_Open(-1) == NATS_OK && nats_SetMessageDeliveryPoolSize(poolSize) == NATS_OK
  }()

  /// Closes connections, which may block.
  ///
  /// A serial queue has its own threads, so a blocked call delays no Swift task.
  static let closing = DispatchQueue(label: "MiniRexNATS.closing")

  /// Keeps OpenSSL's memory when the process exits.
  ///
  /// By default OpenSSL frees it in `exit`, while other threads still connect, read, and write, and
  /// the process crashes. The call has an effect only before the first use of OpenSSL.
  private static func keepOpenSSL() {
    typealias Initialize = @convention(c) (UInt64, OpaquePointer?) -> Int32
    guard let symbol = dlsym(nil, "OPENSSL_init_crypto") else { return }
    let withoutCleanup: UInt64 = 0x0008_0000
    _ = unsafeBitCast(symbol, to: Initialize.self)(withoutCleanup, nil)
  }
}
#endif
