#if NATS
internal import MiniRex
internal import CNATS
internal import Dispatch

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Finds out which messages servers have received, on one thread for all connections.
///
/// A server answers a PING after all messages before it. A connection takes part only while it has
/// unconfirmed messages, so an idle connection costs nothing.
final class Confirmations: Sendable {
  static let shared = Confirmations()

  /// The interval is long enough that a burst of messages needs one answer.
  private static let intervalInMilliseconds = 100
  private static let timeoutInMilliseconds: Int64 = 1_000

  private let waiting = Lock<[LibNATSConnection]>([])
  private let bell = DispatchSemaphore(value: 0)

  private init() {
    if !startThread({ [self] in run() }) {
      misuse("'NATSConnection' requires another thread, but the system has none. Raise the limit.")
    }
  }

  func request(for connection: LibNATSConnection) {
    let isFirst = waiting.withLock { waiting in
      waiting.append(connection)
      return waiting.count == 1
    }
    if isFirst { bell.signal() }
  }

  private func run() -> Never {
    while true {
      bell.wait()
      usleep(UInt32(Self.intervalInMilliseconds) * 1_000)
      let connections = waiting.withLock { waiting in
        defer { waiting = [] }
        return waiting
      }
      for connection in connections { connection.confirm(within: Self.timeoutInMilliseconds) }
    }
  }
}
#endif
