import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexTesting
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct TransferTests {
  let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

  @Test func `a body is loaded with the bytes done and expected`() async throws {
    let server = try LoopbackServer { [body] in $0.answer(body: body) }
    defer { server.stop() }
    let task = URLSession.shared.dataTask(for: server.request())
    let progress = Shared<[TransferProgress]>([])

    let subscription = task.subscribe(progress: { amount in progress.change { $0.append(amount) } })

    #expect(try await task.value == body)
    #expect(progress.value.first == TransferProgress(done: 0, expected: 300_000))
    #expect(progress.value.last == TransferProgress(done: 300_000, expected: 300_000))
    #expect(progress.value.map(\.done) == progress.value.map(\.done).sorted())
    withExtendedLifetime(subscription) {}
  }

  @Test func `X probe`() async throws {
    let server = try LoopbackServer { [body] c in
      switch c.path {
      case "/404": c.answer("404 Not Found", body: Data("gone".utf8))
      case "/cut": c.head("200 OK", "Content-Length: 1000000"); c.send(body)
      case "/cutchunk": c.head("200 OK", "Transfer-Encoding: chunked"); c.sendChunk(body); c.send("FFFF\r\nabc")
      case "/chunk": c.head("200 OK", "Transfer-Encoding: chunked"); c.sendChunk(body); c.sendChunk(Data())
      case "/close": c.head("200 OK"); c.send(body)
      case "/redirect": c.answer("302 Found", "Location: /chunk", body: Data("moved".utf8))
      case "/loop": c.answer("302 Found", "Location: /loop", body: Data("moved".utf8))
      case "/401": c.answer("401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"", body: Data("who".utf8))
      case "/empty": break
      case "/garbage": c.send("hello\r\n\r\n")
      case "/204": c.send("HTTP/1.1 204 No Content\r\n\r\n")
      case "/up": let b = c.body(); c.answer(body: Data("\(b.count)".utf8))
      default: break
      }
    }
    defer { server.stop() }
    for path in ["/404", "/cut", "/cutchunk", "/chunk", "/close", "/redirect", "/loop", "/401", "/empty", "/garbage", "/204"] {
      print("\(path):")
      let task = URLSession.shared.dataTask(for: server.request(path))
      print("  ", await task.result.map { "\($0)".prefix(300) } ?? "nil")
    }
    let up = URLSession.shared.uploadTask(for: server.request("/up", method: "POST"), from: Data(count: 3_000_000))
    let s = up.subscribe(progress: { if $0.done % 500_000 < 20000 { print($0) } })
    print(await up.result as Any)
    withExtendedLifetime(s) {}
    for bad in ["nonsense", "", "http://", "http:///x", "file:///etc/passwd", "file:///nonexistent", "gopher://127.0.0.1/", "http://127.0.0.1:99999/", "data:text/plain,hi", "http://no-such-host.invalid/", "ftp://127.0.0.1:1/"] {
      guard let url = URL(string: bad) else { print(bad, "no URL"); continue }
      print(bad, await URLSession.shared.dataTask(for: URLRequest(url: url)).result.map { "\($0)".prefix(200) } ?? "nil")
    }
    let deaf = try DeafPort()
    print(await URLSession.shared.dataTask(for: URLRequest(url: deaf.url)).result.map { "\($0)".prefix(200) } ?? "nil")
    let folder = try Folder()
    print(await URLSession.shared.downloadTask(for: server.request("/redirect"), to: folder.file("a")).result as Any)
    print(await URLSession.shared.downloadTask(for: server.request("/cut"), to: folder.file("b")).result as Any)
    print(await URLSession.shared.downloadTask(for: server.request("/chunk"), to: folder.url).result as Any)
    print(folder.names)
  }
}
