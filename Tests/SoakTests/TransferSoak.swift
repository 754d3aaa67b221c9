import Foundation
import MiniRex
import MiniRexNetworkingAdapters
import MiniRexTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Soaks {
  @Test func `transfers canceled at a random instant`() async throws {
    let server = try LoopbackServer { $0.misbehave() }
    defer { server.stop() }
    let undelegated = URLSession(configuration: .ephemeral)
    let delegated = URLSession(
      configuration: .ephemeral, delegate: SlowDelegate(), delegateQueue: nil)
    let ways = ["redirect", "challenge", "reset", "cut", "drip", "whole"]

    try await Soak.run(20_000, atATime: 8) { round in
      let way = ways[Int.random(in: 0..<ways.count, using: &round.random)]
      let session = Bool.random(using: &round.random) ? undelegated : delegated
      let isDownload = Bool.random(using: &round.random)
      let instant = Duration.microseconds(Int.random(in: 0..<4_000, using: &round.random))
      let request = server.request("/\(way)")
      let file = round.folder.file("\(round.number)")
      let leaving =
        isDownload
        ? session.downloadTask(for: request, to: file).subscribe { _ in }
        : session.dataTask(for: request).subscribe { _ in }
      try await Task.sleep(for: instant)
      await leaving.invalidateAndWait()
      try? FileManager.default.removeItem(at: file)
    }
    await until { server.openConnections == 0 }
  }
}

extension LoopbackConnection {
  /// Answers in the way that the path names.
  fileprivate func misbehave() {
    switch path.split(separator: "/").first {
    case "redirect":
      // One redirect per letter, and a real answer in the end.
      if path.count > 20 { return answer(body: Data("here".utf8)) }
      answer("302 Found", "Location: \(path)x", body: Data("elsewhere".utf8))
    case "challenge" where headers["authorization"] == nil:
      answer("401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"", body: Data("who?".utf8))
    case "reset":
      head("200 OK", "Content-Length: 1000000")
      send(Data(count: 50_000))
      reset()
    case "cut":
      head("200 OK", "Content-Length: 1000000")
      send(Data(count: 50_000))
    case "drip":
      head("200 OK", "Content-Length: 20")
      for _ in 0..<20 {
        Thread.sleep(forTimeInterval: 0.000_5)
        if !send(Data(count: 1)) { return }
      }
    default:
      answer(body: Data(count: 100_000))
    }
  }
}

/// A delegate that answers late, and therefore sometimes after the end.
private final class SlowDelegate: NSObject, URLSessionTaskDelegate, Sendable {
  private let queue = DispatchQueue(label: "answers")

  private func answer(_ body: @escaping @Sendable () -> Void) {
    queue.asyncAfter(deadline: .now() + .microseconds(.random(in: 0..<2_000)), execute: body)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    answer { completionHandler(request) }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler:
      @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    answer {
      completionHandler(
        .useCredential, URLCredential(user: "a", password: "b", persistence: .none))
    }
  }
}
