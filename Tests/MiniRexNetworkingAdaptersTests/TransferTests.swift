import Foundation
import MiniRex
import MiniRexNetworkingAdapters
import MiniRexTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.light) struct TransferTests {
  let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

  @Test func `a body is loaded with progress in bytes, done and expected`() async throws {
    let server = try LoopbackServer { [body] in $0.answer(body: body) }
    defer { server.stop() }
    let recorder = Recorder(URLSession.shared.dataTask(for: server.request()))

    let updates = await recorder.all()

    #expect(try updates.result?.get() == body)
    #expect(updates.progress.allSatisfy { $0.expected == 300_000 })
    #expect(updates.progress.last == TransferProgress(done: 300_000, expected: 300_000))
    #expect(updates.progress.map(\.done) == updates.progress.map(\.done).sorted())
  }

  @Test func `a chunked body has no expected size`() async throws {
    let server = try LoopbackServer { [body] connection in
      connection.head("200 OK", "Transfer-Encoding: chunked")
      connection.sendChunk(body.prefix(100_000))
      connection.sendChunk(body.dropFirst(100_000))
      connection.sendChunk(Data())
    }
    defer { server.stop() }
    let recorder = Recorder(URLSession.shared.dataTask(for: server.request()))

    let updates = await recorder.all()

    #expect(try updates.result?.get() == body)
    #expect(updates.progress.allSatisfy { $0.expected == nil && $0.fraction == nil })
    #expect(updates.progress.last?.done == 300_000)
  }

  @Test func `a slow body reports progress while it loads`() async throws {
    let gates = [Gate(), Gate()]
    let server = try LoopbackServer { connection in
      connection.head("200 OK", "Content-Length: 30")
      for gate in gates {
        connection.send(Data(count: 10))
        gate.wait()
      }
      connection.send(Data(count: 10))
    }
    defer { server.stop() }
    let recorder = Recorder(URLSession.shared.dataTask(for: server.request()))

    var fractions: [Double] = []
    for gate in gates {
      let count = 10 * (fractions.count + 1)
      let progress = await recorder.progress { $0.done == count }
      fractions.append(try #require(progress?.fraction))
      gate.open()
    }

    #expect(fractions == [Double(10) / 30, Double(20) / 30])
    #expect(try await recorder.all().result?.get().count == 30)
  }

  @Test func `a fast body reports progress at most once per millisecond`() async throws {
    let server = try LoopbackServer { $0.answer(body: Data(count: 16_000_000)) }
    defer { server.stop() }
    let began = ContinuousClock.now

    let updates = await Recorder(URLSession.shared.dataTask(for: server.request())).all()

    // One report may precede the first interval, and one comes with the result.
    let limit = (ContinuousClock.now - began) / .milliseconds(1) + 2
    #expect(Double(updates.progress.count) <= limit)
    #expect(updates.progress.last?.done == 16_000_000)
  }

  @Test func `an upload reports the bytes sent and returns the response`() async throws {
    let server = try LoopbackServer { connection in
      connection.answer(
        "201 Created", body: Data("\(connection.method) \(connection.body().count)".utf8))
    }
    defer { server.stop() }
    let task = URLSession.shared.uploadTask(
      for: server.request(method: "PUT"), from: Data(count: 3_000_000))
    let recorder = Recorder(task)

    let updates = await recorder.all()

    #expect(try updates.result?.get() == Data("PUT 3000000".utf8))
    #expect(updates.progress.last == TransferProgress(done: 3_000_000, expected: 3_000_000))
    #expect(updates.progress.map(\.done) == updates.progress.map(\.done).sorted())
  }

  @Test func `a status outside 200 to 299 is a failure with response and body`() async throws {
    let server = try LoopbackServer { connection in
      connection.answer("404 Not Found", "X-Reason: moved", body: Data("no such page".utf8))
    }
    defer { server.stop() }

    let result = await URLSession.shared.dataTask(for: server.request()).result

    let (response, said) = try #require(result?.refusal)
    #expect(response.statusCode == 404)
    #expect(response.value(forHTTPHeaderField: "X-Reason") == "moved")
    #expect(said == Data("no such page".utf8))
  }

  @Test(arguments: [(200, true), (299, true), (300, false), (599, false)])
  func `the statuses from 200 to 299 are successes`(_ status: Int, isSuccess: Bool) async throws {
    let server = try LoopbackServer { $0.answer("\(status) Any", body: Data("body".utf8)) }
    defer { server.stop() }

    let result = await URLSession.shared.dataTask(for: server.request()).result

    #expect(result?.refusal?.0.statusCode == (isSuccess ? nil : status))
  }

  @Test func `R22 a failure keeps only the beginning of a long body`() async throws {
    let server = try LoopbackServer { [body] in $0.answer("500 Oops", body: body) }
    defer { server.stop() }

    let result = await URLSession.shared.dataTask(for: server.request()).result

    #expect(result?.refusal?.body == body.prefix(65_536))
  }

  @Test func `a redirect is followed`() async throws {
    let server = try LoopbackServer { connection in
      if connection.path == "/old" {
        connection.answer("302 Found", "Location: /new", body: Data("elsewhere".utf8))
      } else {
        connection.answer(body: Data("here".utf8))
      }
    }
    defer { server.stop() }

    let task = URLSession.shared.dataTask(for: server.request("/old"))

    #expect(try await task.value == Data("here".utf8))
  }

  @Test func `the delegate of the user's session decides about redirects`() async throws {
    final class Refuser: NSObject, URLSessionTaskDelegate, Sendable {
      func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
      ) {
        completionHandler(nil)
      }
    }
    let server = try LoopbackServer { connection in
      connection.answer("302 Found", "Location: /new", body: Data("elsewhere".utf8))
    }
    defer { server.stop() }
    let session = URLSession(configuration: .default, delegate: Refuser(), delegateQueue: nil)
    defer { session.invalidateAndCancel() }

    let result = await session.dataTask(for: server.request()).result

    #expect(result?.refusal?.0.statusCode == 302)
  }

  @Test func `the delegate of the user's session provides credentials`() async throws {
    final class Guest: NSObject, URLSessionTaskDelegate, Sendable {
      func urlSession(
        _ session: URLSession, task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
          @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
      ) {
        completionHandler(
          .useCredential, URLCredential(user: "a", password: "b", persistence: .none))
      }
    }
    let server = try LoopbackServer { connection in
      if connection.headers["authorization"] == "Basic YTpi" {
        connection.answer(body: Data("welcome".utf8))
      } else {
        connection.answer(
          "401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"", body: Data("who?".utf8))
      }
    }
    defer { server.stop() }
    let session = URLSession(configuration: .default, delegate: Guest(), delegateQueue: nil)
    defer { session.invalidateAndCancel() }

    #expect(try await session.dataTask(for: server.request()).value == Data("welcome".utf8))
  }

  @Test func `a challenge without a credential is a failure with its status`() async throws {
    let server = try LoopbackServer { connection in
      connection.answer(
        "401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"", body: Data("who?".utf8))
    }
    defer { server.stop() }

    let result = await URLSession.shared.dataTask(for: server.request()).result

    #expect(result?.refusal?.0.statusCode == 401)
    #expect(result?.refusal?.body == Data("who?".utf8))
  }

  @Test func `the configuration of the user's session applies`() async throws {
    let server = try LoopbackServer { connection in
      connection.answer(body: Data((connection.headers["x-key"] ?? "none").utf8))
    }
    defer { server.stop() }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpAdditionalHeaders = ["X-Key": "secret"]
    let session = URLSession(configuration: configuration)

    #expect(try await session.dataTask(for: server.request()).value == Data("secret".utf8))
  }

  @Test func `a cached body equals the first`() async throws {
    let server = try LoopbackServer { [body] connection in
      connection.answer(
        "200 OK", "Cache-Control: public, max-age=3600", "Date: Sat, 21 Nov 2026 13:00:00 GMT",
        "ETag: \"a\"", body: body)
    }
    defer { server.stop() }
    let configuration = URLSessionConfiguration.default
    configuration.urlCache = URLCache(
      memoryCapacity: 1 << 24, diskCapacity: 0, diskPath: nil)
    configuration.requestCachePolicy = .returnCacheDataElseLoad
    let session = URLSession(configuration: configuration)

    for _ in 1...3 {
      #expect(try await session.dataTask(for: server.request()).value == body)
    }
  }

  @Test(arguments: ["/length", "/chunk", "/nothing"])
  func `a response that is cut off is a failure`(_ path: String) async throws {
    let server = try LoopbackServer { [body] connection in
      switch connection.path {
      case "/length":
        connection.head("200 OK", "Content-Length: 1000000")
        connection.send(body)
      case "/chunk":
        connection.head("200 OK", "Transfer-Encoding: chunked")
        connection.sendChunk(body)
        connection.send("FFFF\r\nhalf a chunk")
      default: break
      }
    }
    defer { server.stop() }

    let result = await URLSession.shared.dataTask(for: server.request(path)).result

    #expect(result?.urlError != nil)
  }

  @Test func `a refused connection is a failure`() async throws {
    let deaf = try DeafPort()

    let result = await URLSession.shared.dataTask(for: URLRequest(url: deaf.url)).result

    #expect(result?.urlError?.code == .cannotConnectToHost)
  }

  @Test(arguments: [
    "nonsense", "http://", "http:///path", "gopher://127.0.0.1/", "http://127.0.0.1:99999/",
    "http://no-such-host.invalid/", "about:blank",
  ])
  func `an invalid or unreachable URL is a failure`(_ text: String) async throws {
    let url = try #require(URL(string: text))

    let data = await URLSession.shared.dataTask(for: URLRequest(url: url)).result
    #expect(data?.urlError != nil)

    let folder = try Folder()
    let file = await URLSession.shared.downloadTask(
      for: URLRequest(url: url), to: folder.file("a")
    ).result
    #expect(file?.urlError != nil)
    #expect(folder.names.isEmpty)
  }

  @Test func `R19 subscribers share one request, and late subscribers receive its result`()
    async throws
  {
    let gate = Gate()
    let server = try LoopbackServer { [body] connection in
      gate.wait()
      connection.answer(body: body)
    }
    defer { server.stop() }
    let task = URLSession.shared.dataTask(for: server.request())
    #expect(server.acceptedConnections == 0)

    let first = Recorder(task)
    let second = Recorder(task)
    gate.open()

    #expect(try await first.all().result?.get() == body)
    #expect(try await second.all().result?.get() == body)
    #expect(try await task.value == body)
    #expect(server.acceptedConnections == 1)
  }

  @Test func `R19 the last cancellation cancels the request, and the next subscriber restarts it`()
    async throws
  {
    let server = try LoopbackServer { [body] connection in
      if connection.headers["x-patient"] == nil, connection.path == "/" {
        connection.head("200 OK", "Content-Length: 1000")
        connection.send(body.prefix(10))
        connection.waitForEnd()
      }
    }
    defer { server.stop() }
    let task = URLSession.shared.dataTask(for: server.request())
    for run in 1...3 {
      let first = Recorder(task)
      let second = Recorder(task)
      _ = await second.progress { $0.done == 10 }

      first.invalidate()
      #expect(server.openConnections == 1)
      second.invalidate()

      await until { server.openConnections == 0 }
      #expect(server.acceptedConnections == run)
      #expect(second.updates.allSatisfy { $0.finalResult == nil })
    }
  }
}
