#if NATS
internal import MiniRex
internal import CNATS
internal import Glibc
internal import Synchronization

/// The loop's view of the socket of one libnats connection.
///
/// On a loop, libnats 3.4 keeps the first half of a message when a connection is lost, and treats
/// the data of its next connection as the rest (nats-io/nats.c issue 1007). So a libnats connection
/// gets only one socket here, and a reconnect creates a new libnats connection.
///
/// libnats calls `attach`, `setReads`, `setWrites`, and `detach` while it holds the lock of the
/// connection, so no code calls libnats inside `state`.
final class LoopSocket: Sendable {
  private struct State: Sendable {
    var connection: CPointer?
    var socket: Int32 = -1
    var events: UInt32 = 0
    var reads = false
    var writes = false
    var isClaimed = false
    /// A Boolean value that indicates whether the loop does not watch the socket until the claim ends.
    var isDeferred = false
    /// A Boolean value that indicates whether the loop polls for data to write.
    var isRecent = false
    /// The thread that is appending and writes its data without the loop.
    var writer: pthread_t?
  }

  private static let lastID = Atomic<UInt64>(0)

  let id = LoopSocket.lastID.add(1, ordering: .relaxed).newValue
  private let state = Lock(State())
  private let lost = Atomic(false)

  /// A Boolean value that indicates whether reading has stopped.
  ///
  /// Later messages are not sent.
  var isLost: Bool { lost.load(ordering: .acquiring) }

  /// Marks the connection as lost, after libnats has closed it.
  func lose() { lost.store(true, ordering: .releasing) }

  /// Returns `false` for a second socket.
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
    if !reads { lose() }
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
    let wanted = (state.reads ? EPOLLIN.rawValue : 0) | (state.writes ? EPOLLOUT.rawValue : 0)
    let events = state.isDeferred ? 0 : wanted
    if events == state.events || state.socket < 0 { return }
    let operation =
      state.events == 0 ? EPOLL_CTL_ADD : events == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD
    state.events = events
    _ = cnats_poll_change(EventLoop.shared.poll, operation, state.socket, events, id)
  }

  /// Reads and writes, on the thread of the loop, where connections are also destroyed.
  ///
  /// While another thread writes, it does nothing, and the loop calls it again after the write. The answer often
  /// arrives before the write returns, and a loop that polls concurrently takes a core from the writer.
  ///
  /// - Returns: `true` if polling with `writeRecent()` has started, each millisecond.
  func isReady(_ events: UInt32) -> Bool {
    guard let connection = claim(orDefers: true) else { return false }
    if events & ~EPOLLOUT.rawValue != 0 { natsConnection_ProcessReadEvent(connection.pointer) }
    let hasWritten = events & EPOLLOUT.rawValue != 0
    if hasWritten { writeWaiting(connection) }
    return state.withLock { state in
      endClaim(&state)
      if !hasWritten || state.isRecent { return false }
      state.isRecent = true
      return true
    }
  }

  /// Writes the data that was appended since the last call.
  ///
  /// - Returns: `false` if it found no data, which ends the polling.
  func writeRecent() -> Bool {
    let goesOn = state.withLock { state in
      state.isRecent = state.writes
      return state.isRecent
    }
    guard goesOn else { return false }
    guard let connection = claim() else { return true }
    writeWaiting(connection)
    state.withLock { state in
      endClaim(&state)
      // The rest is written when the socket has room.
      watch(&state)
    }
    return true
  }

  /// Reserves the connection for a read or a write.
  ///
  /// Reads and writes of libnats must not overlap: a failure in one replaces the socket and the
  /// parser that the other uses.
  ///
  /// - Parameter defers: A Boolean value that indicates whether the loop ignores the socket until the claim of
  ///   another thread ends.
  private func claim(orDefers defers: Bool = false) -> CPointer? {
    state.withLock { state in
      if state.isClaimed {
        if defers {
          state.isDeferred = true
          watch(&state)
        }
        return nil
      }
      state.isClaimed = state.connection != nil
      return state.connection
    }
  }

  private func endClaim(_ state: inout sending State) {
    (state.isClaimed, state.isDeferred) = (false, false)
  }

  /// Writes only if data is queued: libnats treats a write event without data as the end of the
  /// connection.
  private func writeWaiting(_ connection: CPointer) {
    if state.withLock({ $0.writes }) { natsConnection_ProcessWriteEvent(connection.pointer) }
  }

  /// Runs `append`, and writes the data on this thread until the socket is full.
  ///
  /// It saves a wake-up of the loop when a caller waits for the answer.
  func writeAtOnce(_ append: () -> natsStatus) -> natsStatus {
    state.withLock { $0.writer = pthread_self() }
    let status = append()
    state.withLock { if $0.writer == pthread_self() { $0.writer = nil } }
    let connection = claim()
    if let connection { writeWaiting(connection) }
    state.withLock { state in
      if connection != nil { endClaim(&state) }
      watch(&state)
    }
    return status
  }
}

/// A pointer of libnats to an object that has its own lock.
struct CPointer: @unchecked Sendable {
  let pointer: OpaquePointer

  init(_ pointer: OpaquePointer) { self.pointer = pointer }
}

/// Sets the callbacks of libnats for a socket.
///
/// `loop` and `data` are the `LoopSocket`.
///
/// libnats retains it from the first `attach` to `detach`, which may follow the report that the
/// connection is closed.
func attachToLoop(_ options: OpaquePointer?, _ wire: LoopSocket) -> natsStatus {
  natsOptions_SetEventLoop(
    options, Unmanaged.passUnretained(wire).toOpaque(),
    { data, loop, connection, socket in
      guard let data, let loop, let connection else { return NATS_INVALID_ARG }
      guard wireOf(loop).attach(CPointer(connection), Int32(socket)) else { return NATS_ERR }
      data.pointee = Unmanaged<LoopSocket>.fromOpaque(loop).retain().toOpaque()
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
      let wire = Unmanaged<LoopSocket>.fromOpaque(data).takeRetainedValue()
      wire.detach()
      EventLoop.shared.perform { withExtendedLifetime(wire) {} }
      return NATS_OK
    })
}

private func wireOf(_ data: UnsafeMutableRawPointer) -> LoopSocket {
  Unmanaged<LoopSocket>.fromOpaque(data).takeUnretainedValue()
}
#endif
