internal import Dispatch
internal import Glibc

/// A time limit for the TLS handshake of one connection attempt.
///
/// libnats blocks in the handshake without a limit, and its socket is private until then. OpenSSL
/// calls `begin` on the connecting thread, and `begin` copies the descriptor. The expiry shuts the
/// copy down, and the handshake fails. A copy never refers to another socket, even if libnats
/// closes its own descriptor first.
final class HandshakeTimeout: Sendable {
  private struct State: Sendable {
    var socket: Int32 = -1
    var isOver = false
    var hasExpired = false
  }

  private let state = Lock(State())
  private let deadline: DispatchTime
  private let queue: DispatchQueue

  init(milliseconds: Int64, on queue: DispatchQueue) {
    deadline = .now() + .milliseconds(Int(min(milliseconds, Int64(Int32.max))))
    self.queue = queue
  }

  /// Runs `connect`, and limits each handshake that begins in it on this thread.
  ///
  /// - Returns: The result of `connect`, and whether the limit ended a handshake.
  func limit<Result>(_ connect: () -> Result) -> (Result, hasExpired: Bool) {
    HandshakeObserver.current = self
    let result = connect()
    HandshakeObserver.current = nil
    let (socket, hasExpired) = state.withLock { state in
      defer { state.socket = -1 }
      state.isOver = true
      return (state.socket, state.hasExpired)
    }
    if socket >= 0 { close(socket) }
    return (result, hasExpired)
  }

  fileprivate func begin(_ descriptor: Int32) {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    if copy < 0 { return }
    let isFirst = state.withLock { state in
      if state.socket >= 0 { return false }
      state.socket = copy
      return true
    }
    if !isFirst {
      close(copy)
      return
    }
    queue.asyncAfter(deadline: deadline) { [weak self] in self?.expire() }
  }

  private func expire() {
    state.withLock { state in
      if state.isOver { return }
      state.hasExpired = true
      shutdown(state.socket, Int32(SHUT_RDWR))
    }
  }
}

/// Reports the TLS handshakes of connecting threads.
///
/// libnats loads OpenSSL. Without its functions, no handshake is observed.
enum HandshakeObserver {
  private typealias Observe = @convention(c) (OpaquePointer?, Int32, Int32) -> Void
  private typealias SetObserver = @convention(c) (OpaquePointer?, Observe?) -> Void
  private typealias Descriptor = @convention(c) (OpaquePointer?) -> Int32
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
  private static let descriptor = function("SSL_get_fd", as: Descriptor.self)

  /// The attempt of this thread, which the thread retains while it is set.
  static var current: HandshakeTimeout? {
    get {
      pthread_getspecific(key).map {
        Unmanaged<HandshakeTimeout>.fromOpaque($0).takeUnretainedValue()
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
        HandshakeObserver.setObserver?(session) { session, event, _ in
          let handshakeStart: Int32 = 0x10
          guard event & handshakeStart != 0, let attempt = HandshakeObserver.current,
            let socket = HandshakeObserver.descriptor?(session)
          else { return }
          attempt.begin(socket)
        }
      }, nil, nil)
  }

  private static func function<Function>(_ name: String, as type: Function.Type) -> Function? {
    dlsym(nil, name).map { unsafeBitCast($0, to: type) }
  }
}
