#if NATS
internal import MiniRex

/// The connections that libnats may call, by numbers that it treats as pointers.
///
/// libnats also calls after it has reported that a connection is closed, for example about a failed
/// flush. The number is no longer registered by then.
enum CallbackRegistry {
  private struct State: Sendable {
    var lastNumber: UInt = 0
    var cores: [UInt: ConnectionCore] = [:]
  }

  private static let state = Lock(State())

  static func add(_ core: ConnectionCore) -> UnsafeMutableRawPointer? {
    let number = state.withLock { state in
      state.lastNumber += 1
      state.cores[state.lastNumber] = core
      return state.lastNumber
    }
    return UnsafeMutableRawPointer(bitPattern: number)
  }

  static func find(_ closure: UnsafeMutableRawPointer?) -> ConnectionCore? {
    state.withLock { $0.cores[UInt(bitPattern: closure)] }
  }

  @discardableResult
  static func remove(_ closure: UnsafeMutableRawPointer?) -> ConnectionCore? {
    state.withLock { $0.cores.removeValue(forKey: UInt(bitPattern: closure)) }
  }
}
#endif
