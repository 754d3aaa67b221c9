import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexNetworkingAdapters
import MiniRexTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Notification.Name {
  fileprivate static let userDidLogIn = Notification.Name("userDidLogIn")
}

@Suite(.light) struct MiniRexFoundationAdaptersSamples {
  @Test func `notifications are read on the posting thread and written on a queue`() async {
    let queue = DispatchQueue(label: "writing")
    let names = BroadcastSource<String>()
    let recorder = Recorder(names.publisher)
    let write: @Sendable (String) -> Void = { names.broadcast($0) }

    let logins = NotificationCenter.default.broadcaster(for: .userDidLogIn) {
      $0.userInfo?["name"] as? String
    }
    let subscription = logins.receive(on: queue).subscribe { write($0) }

    NotificationCenter.default.post(
      name: .userDidLogIn, object: nil, userInfo: ["name": "ada"])
    #expect(await recorder.next() == ["ada"])
    subscription.invalidate()
  }

  @Test func `a transfer is refused, a file is read, a program exits`() async throws {
    struct User: Decodable, Sendable { let name: String }
    let session = URLSession.shared
    // No server uses port 1.
    let request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:1/")))
    let folder = FileManager.default.temporaryDirectory
    let destination = folder.appending(path: UUID().uuidString)
    let log = folder.appending(path: UUID().uuidString)
    try Data("one\ntwo\n".utf8).write(to: log)
    defer { try? FileManager.default.removeItem(at: log) }

    let user = session.dataTask(for: request).decode(User.self)
    let file = session.downloadTask(for: request, to: destination)
    let lineCount = log.readTask(into: 0) { count, piece in
      count += piece.count { $0 == UInt8(ascii: "\n") }
    }
    let program = Process.task(URL(fileURLWithPath: "/bin/echo"), ["done"])

    guard case .failure(.task(.url)) = await user.result else {
      Issue.record("The failure has another type.")
      return
    }
    guard case .failure(.url) = await file.result else {
      Issue.record("The failure has another type.")
      return
    }
    #expect(!FileManager.default.fileExists(atPath: destination.path))
    #expect(try await lineCount.value == 2)
    #expect(try await program.value == .code(0))
  }
}
