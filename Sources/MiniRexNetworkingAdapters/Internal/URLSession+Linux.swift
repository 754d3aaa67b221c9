// What the session of Linux does otherwise than the one of Apple platforms.
#if canImport(FoundationNetworking)
  internal import Dispatch
  internal import Foundation
  internal import FoundationNetworking
  internal import MiniRex

  extension URLSession {
    /// Starts a task in a session of its own, with the configuration of this one.
    ///
    /// The delegate of a task hears nothing here, so it has to be that of a session. And a session
    /// puts each piece of a body on its delegate queue and reads on, so that what the disk is too
    /// slow for would pile up: the queue has to be ours. A cache would put off what `cancel` does
    /// until the task may have completed, which stops the program.
    func start(
      _ make: (URLSession) -> URLSessionDataTask, telling delegate: any URLSessionDataDelegate
    ) -> (URLSessionTask, URLSession) {
      let own = configuration.copy() as? URLSessionConfiguration ?? configuration
      own.urlCache = nil
      let session = URLSession(
        configuration: own, delegate: delegate, delegateQueue: ReceivingQueue())
      let task = make(session)
      task.resume()
      session.finishTasksAndInvalidate()
      return (task, session)
    }
  }

  extension URLSessionTask {
    /// Cancels it in the session that it was started in.
    ///
    /// The platform stops the program if a task completes between the two steps of `cancel`, of
    /// which the second is left on a queue. So the queue keeps what completes it until both are
    /// over.
    func cancel(in session: URLSession) {
      guard let queue = session.delegateQueue as? ReceivingQueue else { return cancel() }
      queue.hold()
      cancel()
      // Waits for the queue on which `cancel` has left something.
      _ = priority
      queue.release()
    }
  }

  /// Runs at once what is added to it, on the thread that receives.
  ///
  /// That is one thread for all sessions, so nothing may wait there, neither for a subscriber nor
  /// for a session. Unchecked like every queue: what it adds is in a lock.
  private final class ReceivingQueue: OperationQueue, @unchecked Sendable {
    /// `nil` unless it is held.
    private let kept = Lock<[@Sendable () -> Void]?>(nil)

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
      let isKept = kept.withLock { kept in
        kept?.append(block)
        return kept != nil
      }
      if !isKept { block() }
    }

    func hold() {
      kept.withLock { $0 = $0 ?? [] }
    }

    /// Runs what was kept, and then is as before.
    func release() {
      while let blocks = kept.withLock({ kept in
        let blocks = kept
        kept = blocks?.isEmpty == false ? [] : nil
        return blocks
      }) {
        for block in blocks { block() }
      }
    }
  }

  extension Transfer {
    /// Asks the delegate of the user's session, as the platform does by itself elsewhere.
    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      let reply = { @Sendable [self] (request: URLRequest?) in
        answer { completionHandler(request) }
      }
      ask { session, delegate in
        delegate.urlSession(
          session, task: task, willPerformHTTPRedirection: response, newRequest: request,
          completionHandler: reply)
      } orElse: {
        reply(request)
      }
    }

    /// Asks the delegate of the user's session, and accepts the refusal when nobody has a
    /// credential: the platform would then do nothing at all, for ever.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler:
        @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      let hasProposal = challenge.proposedCredential != nil
      let reply = {
        @Sendable [self]
        (disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?) in
        answer { [self] in
          let isAnswered =
            disposition == .useCredential
            ? credential != nil : disposition == .performDefaultHandling && hasProposal
          if isAnswered { return completionHandler(disposition, credential) }
          if disposition != .cancelAuthenticationChallenge { _ = acceptRefusal() }
          // What the platform would do, and the queue does not complete it meanwhile.
          task.cancel(in: session)
        }
      }
      ask { session, delegate in
        delegate.urlSession(
          session, task: task, didReceive: challenge, completionHandler: reply)
      } orElse: {
        reply(.performDefaultHandling, nil)
      }
    }

    /// Calls on the queue of the user's session, because the thread that receives may not wait.
    private func ask(
      _ question: @escaping @Sendable (URLSession, any URLSessionTaskDelegate) -> Void,
      orElse answer: () -> Void
    ) {
      guard let delegate = session.delegate as? any URLSessionTaskDelegate else { return answer() }
      session.delegateQueue.addOperation { [self] in
        if !isOver { question(session, delegate) }
      }
    }
  }
#endif
