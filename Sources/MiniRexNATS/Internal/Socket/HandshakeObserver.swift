#if NATS
internal import MiniRex
internal import Glibc

/// Reports the moments at which libnats may get the socket of the server, on connecting threads.
///
/// - The first message of a TLS handshake. libnats loads OpenSSL. Without its functions,
///   TLS times out.
/// - The request for a token, before libnats sends `CONNECT`.
enum HandshakeObserver {
  private typealias Observe = @convention(c) (OpaquePointer?, Int32, Int32) -> Void
  private typealias SetObserver = @convention(c) (OpaquePointer?, Observe?) -> Void
  private typealias Created =
    @convention(c) (
      OpaquePointer?, UnsafeMutableRawPointer?, OpaquePointer?, Int32, Int,
      UnsafeMutableRawPointer?
    ) -> Void
  private typealias NewIndex =
    @convention(c) (
      Int32, Int, UnsafeMutableRawPointer?, Created?, OpaquePointer?, OpaquePointer?
    ) -> Int32

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    if pthread_key_create(&key, nil) != 0 { misuse("A connection to NATS needs a thread key.") }
    return key
  }()
  private static let setObserver = function("SSL_set_info_callback", as: SetObserver.self)

  /// The handover of this thread, which the thread retains while it is set.
  static var current: SocketHandover? {
    get {
      pthread_getspecific(key).map {
        Unmanaged<SocketHandover>.fromOpaque($0).takeUnretainedValue()
      }
    }
    set { pthread_setspecific(key, newValue.map { Unmanaged.passUnretained($0).toOpaque() }) }
  }

  /// OpenSSL reports each new session on the thread that creates it.
  static func start() {
    guard let newIndex = function("CRYPTO_get_ex_new_index", as: NewIndex.self) else { return }
    let sessions: Int32 = 0
    _ = newIndex(
      sessions, 0, nil,
      { session, _, _, _, _, _ in
        if HandshakeObserver.current == nil { return }
        HandshakeObserver.setObserver?(session) { _, event, _ in
          let handshakeStart: Int32 = 0x10
          if event & handshakeStart != 0 { HandshakeObserver.current?.install() }
        }
      }, nil, nil)
  }

  private static func function<Function>(_ name: String, as type: Function.Type) -> Function? {
    dlsym(nil, name).map { unsafeBitCast($0, to: type) }
  }
}
#endif
