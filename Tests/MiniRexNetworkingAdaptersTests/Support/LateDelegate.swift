import Foundation
import TestSupport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Stores the latest completion handler until the test answers it.
final class LateDelegate: NSObject, URLSessionTaskDelegate, Sendable {
  private let question = Shared<(@Sendable () -> Void)?>(nil)
  private let disposition: URLSession.AuthChallengeDisposition

  init(_ disposition: URLSession.AuthChallengeDisposition = .useCredential) {
    self.disposition = disposition
  }

  var hasQuestion: Bool { question.value != nil }

  func answer() {
    question.change { $0.take() }?()
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    question.value = { completionHandler(request) }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler:
      @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    question.value = { [disposition] in
      completionHandler(
        disposition, URLCredential(user: "a", password: "b", persistence: .none))
    }
  }
}
