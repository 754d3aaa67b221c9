import Foundation
import MiniRex
import MiniRexNetworkingAdapters
import MiniRexTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A resource whose values come from a real server.
@Suite(.light) struct ResourceServerTests {
  let clock = ManualClock()
  let requests = Shared(0)

  /// Starts a server whose answer depends on the number of the request, counted from 1.
  func makeServer(
    _ answer: @escaping @Sendable (_ number: Int, LoopbackConnection) -> Void
  ) throws -> LoopbackServer {
    try LoopbackServer { [requests] connection in
      answer(requests.increment(), connection)
    }
  }

  func makeResource(_ server: LoopbackServer, retries: Int = 0) -> Resource<String, any Error> {
    Resource(
      staleAfter: .seconds(60), retries: retries, retryDelay: .constant(.seconds(1)), clock: clock
    ) {
      let data = try await URLSession.shared.dataTask(for: server.request()).value
      return String(decoding: data, as: UTF8.self)
    }
  }

  @Test func `C2 many callers make one request`() async throws {
    let mayAnswer = Gate()
    let server = try makeServer { number, connection in
      mayAnswer.wait()
      connection.answer(body: Data("\(number)".utf8))
    }
    defer { server.stop() }
    let resource = makeResource(server)

    async let values = withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<50 { group.addTask { try await resource.value() } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    await until { resource.waiterCount == 50 }
    mayAnswer.open()

    #expect(try await values == ["1"])
    #expect(requests.value == 1)
  }

  @Test func `C4 a failing server does not affect the value`() async throws {
    let server = try makeServer { number, connection in
      switch number {
      case 2: connection.answer("503 Service Unavailable", body: Data())
      case 3: connection.reset()
      default: connection.answer(body: Data("\(number)".utf8))
      }
    }
    defer { server.stop() }
    let resource = makeResource(server, retries: 2)
    #expect(try await resource.value() == "1")
    let states = Recorder(resource.publisher)
    resource.refresh()

    _ = await states.next(3)
    #expect(resource.state.value == "1")
    #expect((resource.state.failure as? TransferFailure)?.statusCode == 503)
    await clock.advance(by: .seconds(1))
    _ = await states.next()
    #expect(resource.state.failure is TransferFailure)
    await clock.advance(by: .seconds(1))

    #expect(await states.next().map(\.value) == ["4"])
    #expect(requests.value == 4)
  }

  @Test func `C2 a server that stalls loses its request when no caller needs it`() async throws {
    let hasLeft = Gate()
    let server = try makeServer { _, connection in
      connection.waitForEnd()
      hasLeft.open()
    }
    defer { server.stop() }
    let resource = makeResource(server)
    let caller = Task { try await resource.value() }
    await until { requests.value == 1 }
    caller.cancel()

    await onQueue { hasLeft.wait() }
    #expect(await (try? caller.value) == nil)
    #expect(resource.state == .init())
    await until { server.openConnections == 0 }
  }

  @Test func `C5 a server that answers out of order does not overwrite the newer answer`()
    async throws
  {
    let mayAnswer = Gate()
    let server = try makeServer { number, connection in
      if number == 1 { mayAnswer.wait() }
      connection.answer(body: Data("\(number)".utf8))
    }
    defer { server.stop() }
    let late = Shared<String?>(nil)
    let resource = Resource<String, any Error>(clock: clock) {
      // The transfer continues after the cancellation of the load.
      let transfer = Task {
        let data = try await URLSession.shared.dataTask(for: server.request()).value
        return String(decoding: data, as: UTF8.self)
      }
      let text = try await transfer.finished()
      if text == "1" { late.value = text }
      return text
    }
    let states = Recorder(resource.publisher)
    await until { requests.value == 1 }
    resource.invalidate()
    #expect(try await resource.value() == "2")
    mayAnswer.open()
    await until { late.value == "1" }

    #expect(try await resource.value() == "2")
    #expect(states.updates.map(\.value) == [nil, "2"])
    #expect(requests.value == 2)
  }
}

extension TransferFailure {
  fileprivate var statusCode: Int? {
    if case .status(let response, _) = self { response.statusCode } else { nil }
  }
}
