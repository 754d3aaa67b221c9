#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexTesting
import TestSupport
import Testing

/// Servers that accept a connection and become silent.
@Suite(.heavy)
struct SilentServerTests {
  /// What a server sends before it becomes silent.
  enum Stage: CaseIterable {
    /// It does not accept the connection.
    case nothing
    case accepts, sendsHalfOfInfo, sendsInfo, requiresTLS, sendsHalfOfPong
  }

  private static let info = #"INFO {"server_id":"x","version":"2.9.10","proto":1,"headers":true"#

  private func server(_ stage: Stage) throws -> FakeServer {
    switch stage {
    case .nothing: try FakeServer(accepts: false)
    case .accepts: try FakeServer(greeting: "")
    case .sendsHalfOfInfo: try FakeServer(greeting: Self.info)
    case .sendsInfo: try FakeServer(greeting: "\(Self.info)}\r\n")
    case .requiresTLS: try FakeServer(greeting: "\(Self.info),\"tls_required\":true}\r\n")
    case .sendsHalfOfPong: try FakeServer(greeting: "\(Self.info)}\r\n", answer: "PON")
    }
  }

  @Test(arguments: Stage.allCases)
  func `N4 an attempt at a silent server times out and is retried`(_ stage: Stage) async throws {
    let server = try server(stage)
    var options = NATSOptions()
    options.connectTimeout = .milliseconds(400)
    options.reconnectAttempts = 3
    (options.reconnectWait, options.reconnectJitter) = (.milliseconds(10), .zero)

    let nats = NATSConnection(server.address.url, options: options)

    let status = stage == .nothing ? NATSStatus.closed(.noServer) : .closed(.timedOut)
    #expect(await nats.isEventually(status))
    if stage != .nothing { await until { server.connectionCount == 3 } }
  }

  /// The timeout is longer than the time limit of the test.
  @Test(arguments: Stage.allCases)
  func `N5 closing ends an attempt at a silent server`(_ stage: Stage) async throws {
    let server = try server(stage)
    var options = NATSOptions()
    options.connectTimeout = .seconds(36_000)
    let nats = NATSConnection(server.address.url, options: options)
    let diagnostics = Recorder(nats.diagnostics)
    await until {
      switch stage {
      case .nothing: true
      case .accepts, .sendsHalfOfInfo: server.connectionCount > 0
      case .sendsInfo, .requiresTLS, .sendsHalfOfPong: server.receivedCount > 0
      }
    }

    await nats.close()

    #expect(nats.status.current() == .closed(nil))
    #expect(diagnostics.updates.isEmpty)
  }

  /// In a separate process, because other tests create threads and descriptors in this one.
  @Test(arguments: Stage.allCases)
  func `N5 attempts at a silent server leave no thread and no descriptor`(
    _ stage: Stage
  ) async throws {
    let server = try server(stage)
    let guest = try Guest("silence", server.address.url)

    #expect(await guest.status() == 0)
  }
}
#endif
