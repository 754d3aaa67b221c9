/// A subscription of a suspending subscriber in progress.
///
/// A source that starts inside `subscribe` would send before it knows its subscriber. Its gate
/// is therefore held until the counter is attached. Used on one thread only.
final class FlowConnection {
  private static let current = ThreadLocal<FlowConnection>()

  private var gates: [SendGate] = []
  private var starts: [() -> Void] = []

  /// Holds a new gate while a connection is in progress on this thread.
  static func add(_ gate: SendGate) {
    guard let connection = current.value else { return }
    gate.holdForConnection()
    connection.gates.append(gate)
  }

  /// Runs `start` after the connection in progress on this thread, or immediately.
  static func afterwards(_ start: @escaping () -> Void) {
    if let connection = current.value { connection.starts.append(start) } else { start() }
  }

  /// Subscribes, attaches the counters, and opens the gates.
  static func connect(
    to counters: [InFlightCounter], _ subscribe: () -> Subscription
  ) -> Subscription {
    let outer = current.value
    let connection = FlowConnection()
    current.value = connection
    let token = subscribe()
    current.value = outer
    for counter in counters { token.host.attach(counter, of: token) }
    if let outer {
      outer.gates += connection.gates
      outer.starts += connection.starts
    } else {
      for gate in connection.gates { gate.releaseConnection() }
      for start in connection.starts { start() }
    }
    return token
  }
}
