import Foundation
import MiniRex
import MiniRexNetworkingAdapters
import MiniRexTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The platform traps when a finished transfer is answered, so each test runs in its own process.
@Suite(.heavy) struct LeavingTransferTests {
  @Test func `transfers canceled during redirects do not trap`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let server = try LoopbackServer { connection in
        connection.answer("302 Found", "Location: \(connection.path)x", body: Data("next".utf8))
      }
      for _ in 0..<scaled(100) {
        let hops = server.acceptedConnections + Int.random(in: 0...5)
        let recorder = Recorder(URLSession.shared.dataTask(for: server.request()))
        await until { server.acceptedConnections >= hops }
        recorder.invalidate()
      }
      await until { server.openConnections == 0 }
      server.stop()
    }
  }

  @Test func `a redirect answered after the cancellation is not followed`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let server = try LoopbackServer { connection in
        connection.answer("302 Found", "Location: /next", body: Data("elsewhere".utf8))
      }
      let delegate = LateDelegate()
      let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
      for _ in 0..<20 {
        let recorder = Recorder(session.dataTask(for: server.request()))
        await until { delegate.hasQuestion }
        recorder.invalidate()
        delegate.answer()
      }
      await until { server.openConnections == 0 }
      #expect(server.acceptedConnections == 20)
      server.stop()
    }
  }

  @Test func `a challenge answered around the cancellation does not trap`() async {
    await #expect(processExitsWith: .success) {
      mustEnd()
      let server = try LoopbackServer { connection in
        connection.answer(
          "401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"", body: Data("who?".utf8))
      }
      let delegate = LateDelegate()
      let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
      for _ in 0..<scaled(500) {
        let recorder = Recorder(session.dataTask(for: server.request()))
        await until { delegate.hasQuestion }
        async let answered: Void = onQueue { delegate.answer() }
        recorder.invalidate()
        await answered
      }
      await until { server.openConnections == 0 }
      server.stop()
    }
  }

  @Test func `a challenge that the delegate cancels is a failure`() async throws {
    let server = try LoopbackServer { connection in
      connection.answer(
        "401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"", body: Data("who?".utf8))
    }
    defer { server.stop() }
    let delegate = LateDelegate(.cancelAuthenticationChallenge)
    let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
    let recorder = Recorder(session.dataTask(for: server.request()))

    await until { delegate.hasQuestion }
    delegate.answer()

    #expect(await recorder.all().result?.urlError?.code == .cancelled)
    session.invalidateAndCancel()
  }
}
