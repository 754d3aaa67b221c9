import Foundation
import MiniRex

/// Serves pages, and events that go on, to browsers.
package struct PageServer: Sendable {
  private let listener: Listener
  private let limits: Limits
  private let open = OpenConnections()

  /// Takes a port, or any that is free for 0; `nil` if it cannot have it, and `errno` says why.
  ///
  /// The port is free again when the server is released and no longer serves.
  ///
  /// - Parameter address: In numbers. Other machines reach it at an address that is theirs to see.
  package init?(port: UInt16, address: String? = nil, limits: Limits = Limits()) {
    guard let listener = Listener(port: port, address: address ?? Listener.loopback) else {
      return nil
    }
    self.listener = listener
    self.limits = limits
  }

  package var port: UInt16 { listener.port }

  /// How many browsers are served at the time.
  package var connectionCount: Int { open.count.withLock { $0 } }

  /// Answers each request, until the task is cancelled.
  package func serve(_ answer: @escaping @Sendable (Request) async -> Reply) async {
    await withDiscardingTaskGroup { group in
      for await socket in listener.connections.values(.unbounded) {
        guard open.enter(limits.connections) else {
          refuse(socket)
          continue
        }
        group.addTask {
          await Connection(socket, limits, listener.hosts).serve(answer)
          open.count.withLock { $0 -= 1 }
        }
      }
    }
  }

  /// A few bytes never wait in a connection that is new.
  private func refuse(_ socket: Socket) {
    let reply = "HTTP/1.1 \(Status.busy.line)\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"
    socket.sendAtOnce(Data(reply.utf8))
  }
}

private final class OpenConnections: Sendable {
  let count = Lock(0)

  func enter(_ limit: Int) -> Bool {
    count.withLock { count in
      if count == limit { return false }
      count += 1
      return true
    }
  }
}
