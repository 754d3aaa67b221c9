// What the session of Linux does otherwise than the one of Apple platforms.
#if canImport(FoundationNetworking)
  import Dispatch
  import Foundation
  import FoundationNetworking

  extension URLSession {
    /// Starts a task in a session of its own, with the configuration of this one.
    ///
    /// The delegate of a task hears nothing here, so it has to be that of a session. And a session puts
    /// each piece of a body on its delegate queue and reads on, so that what the disk is too slow for
    /// would pile up: the queue has to be ours.
    func start(
      _ make: (URLSession) -> URLSessionDataTask, telling delegate: any URLSessionDataDelegate
    ) -> URLSessionTask {
      let session = URLSession(
        configuration: configuration, delegate: delegate, delegateQueue: NoQueue())
      let task = make(session)
      task.resume()
      session.finishTasksAndInvalidate()
      return task
    }
  }

  /// Runs at once what is added to it, on the thread that receives.
  ///
  /// That is one thread for all sessions, so nothing may wait there, neither for a subscriber nor for
  /// a session. Unchecked like every queue: it adds no state.
  private final class NoQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
  }

  extension Transfer {
    /// Asks the delegate of the user's session, as the platform does by itself elsewhere.
    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      let asked = self.session
      guard let delegate = asked.delegate as? any URLSessionTaskDelegate else {
        return completionHandler(request)
      }
      asked.delegateQueue.addOperation {
        delegate.urlSession(
          asked, task: task, willPerformHTTPRedirection: response, newRequest: request,
          completionHandler: completionHandler)
      }
    }

    /// Asks the delegate of the user's session, and accepts the refusal when nobody has a credential:
    /// the platform would then do nothing at all, for ever.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler:
        @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      let asked = self.session
      let hasProposal = challenge.proposedCredential != nil
      let answer = {
        @Sendable [self]
        (
          disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?
        ) in
        let isAnswered =
          disposition == .useCredential
          ? credential != nil : disposition == .performDefaultHandling && hasProposal
        if isAnswered { return completionHandler(disposition, credential) }
        if disposition != .cancelAuthenticationChallenge, acceptRefusal() {
          return task.cancelSoon()
        }
        completionHandler(.cancelAuthenticationChallenge, nil)
      }
      // The answer waits for the thread that we are on.
      asked.delegateQueue.addOperation {
        if let delegate = asked.delegate as? any URLSessionTaskDelegate {
          delegate.urlSession(asked, task: task, didReceive: challenge, completionHandler: answer)
        } else {
          answer(.performDefaultHandling, nil)
        }
      }
    }
  }
#endif
