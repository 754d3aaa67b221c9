#if NATS
internal import MiniRex
internal import Dispatch
internal import Glibc

/// A descriptor that closes when it is released.
final class Descriptor: Sendable {
  let number: Int32

  /// Returns `nil` for the result of a call that failed.
  init?(_ number: Int32) {
    if number < 0 { return nil }
    self.number = number
  }

  deinit { close(number) }
}

/// One attempt to connect, which ends at its limit or when another thread cancels it.
///
/// The end shuts down the sockets of the attempt, so that each wait for them returns, here and in
/// libnats.
final class ConnectAttempt: Sendable {
  private struct State: Sendable {
    var sockets: [Descriptor] = []
    var error: NATSError?
  }

  private let state = Lock(State())
  private let limit: ContinuousClock.Instant

  init(milliseconds: Int64) {
    limit = .now + .milliseconds(min(milliseconds, Int64(Int32.max)))
  }

  /// The reason for an end before the connection, `.timedOut` or `.closed`.
  var error: NATSError? { state.withLock { $0.error } }

  /// The time left, in milliseconds, rounded up.
  var rest: Int32 { Int32(clamping: max(0, (limit - .now).inMilliseconds + 1)) }

  /// Ends the attempt at its limit, from `queue`.
  func expire(on queue: DispatchQueue) {
    queue.asyncAfter(deadline: .now() + .milliseconds(Int(rest))) { [weak self] in
      self?.end(.timedOut)
    }
  }

  func cancel() { end(.closed) }

  /// Shuts the sockets of the attempt down.
  private func end(_ error: NATSError) {
    state.withLock { state in
      if state.error != nil { return }
      state.error = error
      for socket in state.sockets { shutdown(socket.number, Int32(SHUT_RDWR)) }
    }
  }

  /// Adds a socket, which the end of the attempt shuts down.
  ///
  /// A socket that does not connect yet is not shut down, so `wait` must follow. After the end,
  /// nothing is added, so the caller releases the socket.
  func add(_ socket: Descriptor) throws(NATSError) {
    let error = state.withLock { state in
      if state.error == nil { state.sockets.append(socket) }
      return state.error
    }
    if let error { throw error }
  }

  /// Releases a socket, which the end of the attempt no longer shuts down.
  func remove(_ socket: Descriptor) {
    state.withLock { state in state.sockets.removeAll { $0 === socket } }
  }

  /// Waits until a socket is ready, has failed, or is shut down.
  ///
  /// - Returns: `false` if it took longer than `milliseconds`.
  func wait(
    for events: Int32, on socket: Descriptor, milliseconds: Int32 = .max
  ) throws(NATSError) -> Bool {
    while true {
      if let error { throw error }
      let rest = self.rest
      if rest == 0 { throw .timedOut }
      var entry = pollfd(fd: socket.number, events: Int16(events), revents: 0)
      let count = poll(&entry, 1, min(rest, milliseconds))
      if let error { throw error }
      if count > 0 { return true }
      if count == 0, milliseconds < rest { return false }
    }
  }
}
#endif
