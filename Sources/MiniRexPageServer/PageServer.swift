import Foundation
public import MiniRex

/// A server for pages and their event streams.
///
/// It uses three descriptors, and one for each connection.
public struct PageServer: Sendable {
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
  public init?(
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

  /// The port on which the server listens.
  public var port: UInt16 { listener.port }

  /// The number of open connections.
  public var connectionCount: Int { open.count.withLock { $0 } }

  /// Answers requests until the task is canceled, or until `stop` has a result.
  ///
  /// Cancellation ends the open connections. After `stop`, the server refuses connections and returns
  /// when the open connections have ended. Event streams must finish for that.
  ///
  /// When a browser disconnects, the server cancels the task of its answer. It still sends the
  /// reply, because the browser may have closed only its output.
  public func serve(
    until stop: PublishedTask<Void, Never> = .never,
    _ answer: @escaping @Sendable (Request) async -> Reply
  ) async {
    let parser = RequestParser(limits, listener.hosts, token: token)
    let (connections, continuation) = AsyncStream.makeStream(of: OpenConnection.self)
    let accepting = Task {
      await accept { continuation.yield($0) }
      continuation.finish()
    }
    let stopping = stop.subscribe(success: {
      accepting.cancel()
      listener.close()
    })
    await withTaskCancellationHandler {
      await withDiscardingTaskGroup { group in
        for await connection in connections {
          group.addTask {
            await Connection(connection.socket, poller, limits).serve(parser, answer)
            withExtendedLifetime(connection) {}
          }
        }
      }
    } onCancel: {
      accepting.cancel()
    }
    stopping.invalidate()
    // This task retains the listener, and therefore the port.
    await accepting.value
  }

  /// Accepts connections until the task is canceled.
  private func accept(_ receive: (OpenConnection) -> Void) async {
    while await poller.wait(for: listener.socket, POLLIN) == .ready {
      switch listener.accept() {
      case .connection(let socket):
        if let connection = OpenConnection(socket, open, limit: limits.connections) {
          receive(connection)
        } else {
          refuse(socket)
        }
      case .none: continue
      // A connection that closes returns its descriptor.
      case .outOfDescriptors: try? await Task.sleep(for: .milliseconds(10))
      }
    }
  }

  /// Answers 503 without waiting.
  ///
  /// The buffer of a new connection has room for the response.
  private func refuse(_ socket: Socket) {
    let reply = "HTTP/1.1 \(Status.unavailable.line)\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"
    _ = socket.send(Array(reply.utf8)[...])
    // Closing with unread input would discard the response.
    socket.finish()
    _ = socket.receive()
  }
}

private final class OpenConnections: Sendable {
  let count = Lock(0)
}

/// An accepted connection, which counts as open while it is in memory.
private final class OpenConnection: Sendable {
  let socket: Socket
  private let open: OpenConnections

  /// Returns `nil` at the limit.
  init?(_ socket: Socket, _ open: OpenConnections, limit: Int) {
    self.socket = socket
    self.open = open
    let isBelow = open.count.withLock { count in
      count += 1
      return count <= limit
    }
    // A failed initializer runs `deinit`, because all properties are set.
    if !isBelow { return nil }
  }

  deinit { open.count.withLock { $0 -= 1 } }
}
