import Foundation
import MiniRex
import MiniRexNetworkingAdapters
import MiniRexTesting
import Synchronization
import TestSupport
import Testing

@testable import first_programs

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.light) struct DownloaderTests {
  let folder: Folder

  init() throws { folder = try Folder() }

  @Test func `downloads are concurrent, retried, and report their progress`() async throws {
    let busy = Atomic(0)
    let most = Atomic(0)
    let tries = Atomic(0)
    let server = try LoopbackServer { connection in
      most.max(busy.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
      // Before the answer, because the next request may arrive immediately after it.
      busy.subtract(1, ordering: .relaxed)
      if connection.path == "/3", tries.add(1, ordering: .relaxed).newValue < 3 {
        connection.answer("503 Busy", body: Data())
      } else {
        connection.answer(body: Data("file \(connection.path)".utf8))
      }
    }
    defer { server.stop() }
    let task = download(
      (1...6).map { server.url("/\($0)") }, into: folder.url, atOnce: 2,
      delay: .constant(.zero))
    let progress = BroadcastSource<Double>()
    let told = Recorder(progress.publisher)
    let token = task.subscribe(success: nil, failure: nil) { progress.broadcast($0) }

    let files = try await task.value

    #expect(files == (1...6).map { folder.file("\($0)") })
    #expect(folder.names == (1...6).map(String.init))
    #expect(try String(contentsOf: files[2], encoding: .utf8) == "file /3")
    #expect(tries.load(ordering: .relaxed) == 3)
    #expect(most.load(ordering: .relaxed) <= 2)
    #expect(told.updates.last == 1)
    token.invalidate()
  }

  @Test func `a missing file is not requested again`() async throws {
    let server = try LoopbackServer { $0.answer("404 Not Found", body: Data()) }
    defer { server.stop() }

    let result = await download([server.url("/none")], into: folder.url).result

    guard case .failure(.status(let answer, _)) = result else {
      Issue.record("\(String(describing: result))")
      return
    }
    #expect(answer.statusCode == 404)
    #expect(server.acceptedConnections == 1)
    #expect(folder.names == [])
  }
}
