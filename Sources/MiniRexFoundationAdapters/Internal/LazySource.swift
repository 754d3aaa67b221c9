internal import MiniRex

/// A source that connects to the platform with its first subscriber, and disconnects with its last.
///
/// However many they are, the platform has one registration: who is called, and in which order, is
/// for the delivery behind it to say.
final class LazySource<Update: Sendable>: Sendable {
  /// Registers with the platform, and gives the token that takes the registration back.
  typealias Connect = @Sendable (_ connection: Connection<Update>) -> Subscription

  private let connect: Connect
  private let current = Lock<Connection<Update>?>(nil)

  init(connect: @escaping Connect) {
    self.connect = connect
  }

  var publisher: Broadcaster<Update> {
    Publisher(current: { nil }) { self.subscribe($0) }
  }

  private func subscribe(_ receive: @escaping @Sendable (Update) -> Void) -> Subscription {
    var old: Connection<Update>?
    let (connection, isFirst) = current.withLock { current -> (Connection<Update>, Bool) in
      if let connection = current, connection.join() { return (connection, false) }
      let connection = Connection<Update>()
      old = current
      current = connection
      return (connection, true)
    }
    withExtendedLifetime(old) {}
    let membership = Subscription { self.leave(connection) }
    let sentinel = Sentinel { membership.invalidate() }
    let gate = connection.updates.subscribe { update in
      withExtendedLifetime(sentinel) { receive(update) }
    }
    if isFirst {
      connection.attach(connect(connection))
    } else {
      connection.waitUntilAttached()
    }
    return Subscription(gate: gate, inputs: [membership])
  }

  private func leave(_ connection: Connection<Update>) {
    let isLast = current.withLock { current in
      guard connection.leave() else { return false }
      if current === connection { current = nil }
      return true
    }
    if isLast { connection.end() }
  }
}
