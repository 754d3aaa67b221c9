/// A subscription of a suspending subscriber in progress.
///
/// A source that starts inside `subscribe` would send before it knows its subscriber. Its valve
/// is therefore held until the counter is attached. Used on one thread only.
final class FlowConnection {
  private static let current = ThreadLocal<FlowConnection>()

  private var valves: [SendValve] = []
  private var starts: [() -> Void] = []

  /// Holds a new valve while a connection is in progress on this thread.
  static func add(_ valve: SendValve) {
    guard let connection = current.value else { return }
    valve.holdForConnection()
    connection.valves.append(valve)
  }

  /// Runs `start` after the connection in progress on this thread, or immediately.
  static func afterwards(_ start: @escaping () -> Void) {
    if let connection = current.value { connection.starts.append(start) } else { start() }
  }

  /// Subscribes, attaches the counters, and opens the valves.
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
      outer.valves += connection.valves
      outer.starts += connection.starts
    } else {
      for valve in connection.valves { valve.releaseConnection() }
      for start in connection.starts { start() }
    }
    return token
  }
}
