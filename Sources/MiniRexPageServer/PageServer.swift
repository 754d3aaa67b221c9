import Foundation
import MiniRex

/// A server for pages and their event streams.
///
/// It uses three descriptors, and one for each connection.
package struct PageServer: Sendable {
  private let listener: Listener
  private let poller: Poller
  private let limits: Limits
  private let token: String?
  private let open = OpenConnections()

  /// Creates a server, or returns `nil` with the reason in `errno`.
  ///
  /// The port is free again when the server is released and no longer serves.
  ///
  /// - Parameters:
  ///   - port: The port to listen at, or 0 for any free port.
  ///   - address: An IPv4 address in numbers. The default is the loopback address, which other
  ///     machines cannot reach.
  ///   - token: The value that each request needs in its query parameter `token`. The server
  ///     compares it when the first line of a request has arrived, before it reads any header.
  package init?(
    port: UInt16, address: String? = nil, limits: Limits = Limits(), token: String? = nil
  ) {
    guard let listener = Listener(port: port, address: address ?? Listener.loopback),
      let poller = Poller()
    else { return nil }
    self.listener = listener
    self.poller = poller
    self.limits = limits
    self.token = token
  }

  package var port: UInt16 { listener.port }

  /// The number of open connections.
  package var connectionCount: Int { open.count.withLock { $0 } }

  /// Answers requests until the task is canceled.
  ///
  /// When a browser disconnects, the server cancels the task of its answer. It still sends the
  /// reply, because the browser may have closed only its output.
  package func serve(_ answer: @escaping @Sendable (Request) async -> Reply) async {
    let parser = RequestParser(limits, listener.hosts, token: token)
    await withDiscardingTaskGroup { group in
      while await poller.wait(for: listener.socket, POLLIN) == .ready {
        switch listener.accept() {
        case .connection(let socket) where open.enter(limits.connections):
          group.addTask {
            await Connection(socket, poller, limits).serve(parser, answer)
            open.count.withLock { $0 -= 1 }
          }
        case .connection(let socket): refuse(socket)
        case .none: continue
        // A connection that closes returns its descriptor.
        case .outOfDescriptors: try? await Task.sleep(for: .milliseconds(10))
        }
      }
    }
  }

  /// Answers 503 without waiting.
  ///
  /// The buffer of a new connection has room for the response.
  private func refuse(_ socket: Socket) {
    let reply = "HTTP/1.1 \(Status.busy.line)\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"
    _ = socket.send(Array(reply.utf8)[...])
    // Closing with unread input would discard the response.
    socket.finish()
    _ = socket.receive()
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
