// Faults of the platform on Linux. A test that fails here shows that the platform has fixed one.
#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import MiniRex
import MiniRexNetworkingAdapters
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct URLSessionFaultTests {
  private func session(_ listener: Listener) -> URLSession {
    URLSession(configuration: .ephemeral, delegate: listener, delegateQueue: nil)
  }

  @Test func `the platform does not count received bytes, and the adapter does`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { connection in
      connection.head("200 OK", "Content-Length: 20000")
      connection.send(Data(count: 10_000))
      gate.wait()
      connection.send(Data(count: 10_000))
    }
    defer { server.stop() }
    let counts = Shared<[Int64]>([])
    let listener = Listener { task, _ in
      counts.change { $0 += [task.countOfBytesReceived, task.progress.completedUnitCount] }
    }
    let session = session(listener)
    let recorder = Recorder(URLSession.shared.dataTask(for: server.request()))

    session.dataTask(with: server.request()).resume()
    await until { listener.received == 10_000 }
    #expect(await recorder.progress { $0.done == 10_000 }?.expected == 20_000)
    gate.open()
    await until { listener.hasEnded }

    #expect(!counts.value.isEmpty && counts.value.allSatisfy { $0 == 0 })
    session.invalidateAndCancel()
  }

  @Test
  func
    `the platform restarts a task that is suspended and resumed`()
    async throws
  {
    let requests = Shared(0)
    let server = try LoopbackServer { connection in
      let number = requests.change { requests in
        requests += 1
        return requests
      }
      connection.head("200 OK", "Content-Length: 20000")
      connection.send(Data(count: 10_000))
      if number == 1 { connection.waitForEnd() }
      connection.send(Data(count: 10_000))
    }
    defer { server.stop() }
    let listener = Listener { _, _ in }
    let session = session(listener)
    let task = session.dataTask(with: server.request())
    task.resume()
    await until { listener.received == 10_000 }

    task.suspend()
    task.resume()
    await until { listener.hasEnded }

    #expect(requests.value == 2)
    #expect(listener.received == 30_000)
    #expect(try await URLSession.shared.dataTask(for: server.request()).value.count == 20_000)
    #expect(requests.value == 3)
    session.invalidateAndCancel()
  }

  @Test func `the platform does not report the body to a task's own delegate`() async throws {
    let server = try LoopbackServer { $0.answer(body: Data(count: 10)) }
    defer { server.stop() }
    let session = session(Listener { _, _ in })
    let listener = Listener { _, _ in }
    let task = session.dataTask(with: server.request())
    task.delegate = listener

    task.resume()
    await until { task.state == .completed }

    #expect(listener.received == 0)
    #expect(!listener.hasEnded)
    session.invalidateAndCancel()
  }

  @Test func `the platform reads on while its delegate is busy`() async throws {
    let size = 64 << 20
    let server = try LoopbackServer { connection in
      connection.answer(body: Data(count: size))
      connection.waitForEnd()
    }
    defer { server.stop() }
    let gate = Gate()
    let listener = Listener { _, _ in gate.wait() }
    let session = session(listener)
    session.dataTask(with: server.request()).resume()
    await until { server.acceptedConnections == 1 }

    // The entire body is in memory now.
    await until { server.openConnections == 0 }
    #expect(listener.received < size)

    gate.open()
    await until { listener.hasEnded }
    #expect(listener.received == size)
    session.invalidateAndCancel()
  }

  @Test func `the platform traps on a redirect answered after the task has finished`() async {
    await #expect(processExitsWith: .failure) {
      let server = try LoopbackServer { connection in
        connection.answer("302 Found", "Location: /next", body: Data())
      }
      let delegate = LateDelegate()
      let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
      let task = session.dataTask(with: server.request())
      task.resume()
      await until { delegate.hasQuestion }

      task.cancel()
      await session.drain()
      delegate.answer()

      // The session handles the answer on its own queue.
      await session.drain()
      server.stop()
    }
  }

  @Test func `the platform waits indefinitely for an answer to a challenge`() async throws {
    let server = try LoopbackServer { connection in
      connection.answer(
        "401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"", body: Data("who?".utf8))
    }
    defer { server.stop() }
    let listener = Listener { _, _ in }
    let session = session(listener)
    let task = session.dataTask(with: server.request())
    task.resume()
    await until { listener.received == 4 && server.openConnections == 0 }

    // The session has finished its pending work by now.
    for _ in 0..<10 { await session.drain() }

    #expect(!listener.hasEnded)
    #expect(task.state == .running)
    session.invalidateAndCancel()
  }
}

/// Counts the delegate calls of a session.
private final class Listener: NSObject, URLSessionDataDelegate, Sendable {
  private let count = Shared(0)
  private let isOver = Shared(false)
  private let onData: @Sendable (URLSessionTask, Data) -> Void

  init(_ onData: @escaping @Sendable (URLSessionTask, Data) -> Void) { self.onData = onData }

  var received: Int { count.value }
  var hasEnded: Bool { isOver.value }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    onData(dataTask, data)
    count.change { $0 += data.count }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    isOver.value = true
  }
}

extension URLSession {
  /// Waits for the work queue of the session, then for its delegate queue.
  fileprivate func drain() async {
    await withCheckedContinuation { continuation in
      getAllTasks { _ in continuation.resume() }
    }
  }
}
#endif
