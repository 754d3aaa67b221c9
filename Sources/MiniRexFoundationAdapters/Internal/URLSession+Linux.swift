// What the session of Linux does otherwise than the one of Apple platforms.
#if canImport(FoundationNetworking)
  import Dispatch
  import Foundation
  import FoundationNetworking

  extension URLSession {
    /// Starts a task in a session of its own, with the configuration of this one.
    ///
    /// The delegate of a task hears nothing here, so it has to be that of a session. And a session puts
    /// each piece of a body on its delegate queue and reads on, so that what the disk or a subscriber
    /// is too slow for would pile up: the queue has to be ours to hold it back.
    func start(
      _ make: (URLSession) -> URLSessionDataTask, telling delegate: any URLSessionDataDelegate
    ) -> URLSessionTask {
      let session = URLSession(
        configuration: configuration, delegate: delegate, delegateQueue: BoundedQueue())
      let task = make(session)
      task.resume()
      session.finishTasksAndInvalidate()
      return task
    }
  }

  /// A serial queue that makes who adds to it wait while it is full.
  ///
  /// Unchecked like every queue: it has nothing but a semaphore of its own.
  private final class BoundedQueue: OperationQueue, @unchecked Sendable {
    private let room = DispatchSemaphore(value: 64)

    override init() {
      super.init()
      maxConcurrentOperationCount = 1
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
      room.wait()
      super.addOperation { [room] in
        block()
        room.signal()
      }
    }
  }

  extension Transfer {
    /// Asks the delegate of the user's session, as the platform does by itself elsewhere.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      guard let delegate = self.session.delegate as? any URLSessionTaskDelegate else {
        return completionHandler(request)
      }
      delegate.urlSession(
        self.session, task: task, willPerformHTTPRedirection: response, newRequest: request,
        completionHandler: completionHandler)
    }

    /// Asks the delegate of the user's session, and accepts the refusal when nobody has a credential:
    /// the platform would then do nothing at all, for ever.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler:
        @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      let hasProposal = challenge.proposedCredential != nil
      let answer = { @Sendable [self] (
        disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?
      ) in
        let isAnswered =
          disposition == .useCredential ? credential != nil
          : disposition == .performDefaultHandling && hasProposal
        if isAnswered { return completionHandler(disposition, credential) }
        if disposition != .cancelAuthenticationChallenge, acceptRefusal() { return task.cancelSoon() }
        completionHandler(.cancelAuthenticationChallenge, nil)
      }
      guard let delegate = self.session.delegate as? any URLSessionTaskDelegate else {
        return answer(.performDefaultHandling, nil)
      }
      delegate.urlSession(
        self.session, task: task, didReceive: challenge, completionHandler: answer)
    }
  }
#endif
