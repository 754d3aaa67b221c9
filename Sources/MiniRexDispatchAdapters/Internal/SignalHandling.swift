internal import CLibrary
internal import MiniRex
internal import Synchronization

/// The subscribers of signals in this process.
///
/// It replaces the signal source of Dispatch, which on Linux never removes its handler, and blocks
/// the signal on the threads that it used.
final class SignalHandling: Sendable {
  static let shared = SignalHandling()

  private struct State {
    var listeners: [Int32: [Connection<Int32>]] = [:]
    /// The previous actions of the signals.
    var actions: [Int32: sigaction] = [:]
    var pipe: Subscription?
  }

  private let state = Lock(State())

  private init() {}

  /// Returns `false` if the signal cannot be observed.
  func add(_ connection: Connection<Int32>, for number: Int32) -> Bool {
    state.withLock { state in
      if state.pipe == nil { state.pipe = openPipe() }
      if state.pipe == nil { return false }
      if state.actions[number] == nil {
        guard let old = action(replacedBy: .catching, of: number) else { return false }
        state.actions[number] = old
      }
      state.listeners[number, default: []].append(connection)
      return true
    }
  }

  func remove(_ connection: Connection<Int32>, for number: Int32) {
    // The result is released after the lock, when this function returns.
    _ = state.withLock { state in
      let old = state.listeners[number]
      state.listeners[number]?.removeAll { $0 === connection }
      if state.listeners[number]?.isEmpty == true, let action = state.actions[number] {
        state.listeners[number] = nil
        state.actions[number] = nil
        restore(action, of: number)
      }
      return old
    }
  }

  private func tell() {
    var bits = caughtSignals.exchange(0, ordering: .acquiringAndReleasing)
    while bits != 0 {
      let number = Int32(bits.trailingZeroBitCount) + 1
      bits &= bits - 1
      let listeners = state.withLock { $0.listeners[number] ?? [] }
      for connection in listeners { connection.broadcast(number) }
    }
  }

  /// The pipe stays open, because the handler may write to it at any time.
  private func openPipe() -> Subscription? {
    var ends: [Int32] = [0, 0]
    if unsafe pipe(&ends) != 0 { return nil }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    signalPipe.store(ends[1], ordering: .releasing)
    let input = ends[0]
    return readable(input, label: "MiniRex.signals") { [self] in
      var bytes = [UInt8](repeating: 0, count: 256)
      while unsafe read(input, &bytes, bytes.count) > 0 {}
      tell()
    }
  }
}
