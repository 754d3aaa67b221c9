internal import CNATS
internal import Glibc
internal import Synchronization

/// The socket of one connection of libnats, as the loop knows it.
///
/// With a loop, libnats 3.4 keeps the half of a message that it has read when a connection is lost,
/// and takes what comes over its next one for the rest (nats-io/nats.c issue 1007). So it never gets
/// a next one here: its first socket is its only one, and a new connection of libnats is made.
///
/// libnats calls `attach`, `setReads`, `setWrites` and `detach` while it holds the lock of the
/// connection; so nothing is called from inside `state`.
final class Wire: Sendable {
  private struct State: Sendable {
    var connection: CPointer?
    var socket: Int32 = -1
    var events: UInt32 = 0
    var reads = false
    var writes = false
    var isClaimed = false
    /// If the loop looks by itself for what there is to write.
    var isRecent = false
    /// The thread that will write by itself what it is about to append.
    var writer: pthread_t?
  }

  private static let lastID = Atomic<UInt64>(0)

  let id = Wire.lastID.add(1, ordering: .relaxed).newValue
  private let state = Lock(State())
  private let lost = Atomic(false)

  /// True once nothing is read any more; what is published then goes nowhere.
  var isLost: Bool { lost.load(ordering: .acquiring) }

  /// False for a second socket.
  func attach(_ connection: CPointer, _ socket: Int32) -> Bool {
    state.withLock { state in
      if state.connection != nil { return false }
      state.connection = connection
      state.socket = socket
      state.reads = true
      watch(&state)
      return true
    }
  }

  func setReads(_ reads: Bool) {
    if !reads { lost.store(true, ordering: .releasing) }
    state.withLock { state in
      state.reads = reads
      watch(&state)
    }
  }

  func setWrites(_ writes: Bool) {
    state.withLock { state in
      state.writes = writes
      if writes, state.isRecent || state.writer == pthread_self() { return }
      watch(&state)
    }
  }

  func detach() {
    state.withLock { state in
      state.reads = false
      state.writes = false
      watch(&state)
      state.socket = -1
    }
  }

  private func watch(_ state: inout sending State) {
    let events = (state.reads ? EPOLLIN.rawValue : 0) | (state.writes ? EPOLLOUT.rawValue : 0)
    if events == state.events || state.socket < 0 { return }
    let operation =
      state.events == 0 ? EPOLL_CTL_ADD : events == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD
    state.events = events
    _ = cnats_poll_change(EventLoop.shared.poll, operation, state.socket, events, id)
  }

  /// Called on the thread of the loop, where connections are destroyed too.
  ///
  /// While another thread writes by itself, it does nothing, and is called again.
  ///
  /// - Returns: True if it has begun to be looked at each millisecond, with `writeRecent()`.
  func isReady(_ events: UInt32) -> Bool {
    guard let connection = claim() else { return false }
    if events & ~EPOLLOUT.rawValue != 0 { natsConnection_ProcessReadEvent(connection.pointer) }
    let hasWritten = events & EPOLLOUT.rawValue != 0
    if hasWritten { writeWaiting(connection) }
    return state.withLock { state in
      state.isClaimed = false
      if !hasWritten || state.isRecent { return false }
      state.isRecent = true
      return true
    }
  }

  /// Writes what has come meanwhile; false if that was nothing, so that it is not looked at any more.
  func writeRecent() -> Bool {
    let goesOn = state.withLock { state in
      state.isRecent = state.writes
      return state.isRecent
    }
    guard goesOn else { return false }
    guard let connection = claim() else { return true }
    writeWaiting(connection)
    state.withLock { state in
      state.isClaimed = false
      // What the socket had no room for is written when it has.
      watch(&state)
    }
    return true
  }

  /// One thread at a time has libnats read or write: what fails in one of them replaces the socket
  /// and the parser that the other uses.
  private func claim() -> CPointer? {
    state.withLock { state in
      if state.isClaimed { return nil }
      state.isClaimed = state.connection != nil
      return state.connection
    }
  }

  /// Told to write when there is nothing to write, libnats would take that for the end of the
  /// connection.
  private func writeWaiting(_ connection: CPointer) {
    if state.withLock({ $0.writes }) { natsConnection_ProcessWriteEvent(connection.pointer) }
  }

  /// Runs `append`, and writes what it has appended on this thread as far as the socket takes it.
  ///
  /// That saves waking the loop, when an answer is waited for.
  func writeAtOnce(_ append: () -> natsStatus) -> natsStatus {
    state.withLock { $0.writer = pthread_self() }
    let status = append()
    state.withLock { if $0.writer == pthread_self() { $0.writer = nil } }
    if let connection = claim() {
      writeWaiting(connection)
      state.withLock { $0.isClaimed = false }
    }
    state.withLock { watch(&$0) }
    return status
  }
}

/// A pointer of libnats: what it points to has a lock of its own.
struct CPointer: @unchecked Sendable {
  let pointer: OpaquePointer

  init(_ pointer: OpaquePointer) { self.pointer = pointer }
}

/// What libnats calls for a socket; `loop` and `data` are the `Wire`.
///
/// It is kept from the first `attach` to `detach`, which may come after the connection has said that
/// it is closed.
func attachToLoop(_ options: OpaquePointer?, _ wire: Wire) -> natsStatus {
  natsOptions_SetEventLoop(
    options, Unmanaged.passUnretained(wire).toOpaque(),
    { data, loop, connection, socket in
      guard let data, let loop, let connection else { return NATS_INVALID_ARG }
      guard wireOf(loop).attach(CPointer(connection), Int32(socket)) else { return NATS_ERR }
      data.pointee = Unmanaged<Wire>.fromOpaque(loop).retain().toOpaque()
      return NATS_OK
    },
    { data, adds in
      if let data { wireOf(data).setReads(adds) }
      return NATS_OK
    },
    { data, adds in
      if let data { wireOf(data).setWrites(adds) }
      return NATS_OK
    },
    { data in
      guard let data else { return NATS_OK }
      let wire = Unmanaged<Wire>.fromOpaque(data).takeRetainedValue()
      wire.detach()
      EventLoop.shared.perform { withExtendedLifetime(wire) {} }
      return NATS_OK
    })
}

private func wireOf(_ data: UnsafeMutableRawPointer) -> Wire {
  Unmanaged<Wire>.fromOpaque(data).takeUnretainedValue()
}
