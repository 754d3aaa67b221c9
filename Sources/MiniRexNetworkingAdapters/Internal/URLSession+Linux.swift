// Differences between the session on Linux and on Apple platforms.
#if canImport(FoundationNetworking)
internal import Dispatch
internal import Foundation
internal import FoundationNetworking
internal import MiniRex

extension URLSession {
  /// Starts a task in a separate session, with the configuration of this session.
  ///
  /// On Linux, only the delegate of a session receives events. A session appends each piece of a
  /// body to its delegate queue and continues to read, so a slow disk would let pieces pile up.
  /// The delegate queue therefore has to be ours. A cache would delay the effect of `cancel`
  /// until the task may have completed, which traps.
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
  /// Cancels the task in its session.
  ///
  /// The platform traps if a task completes between the two steps of `cancel`. The second step runs on
  /// a queue. The delegate queue therefore holds the completion until both steps are done.
  func cancel(in session: URLSession) {
    guard let queue = session.delegateQueue as? ReceivingQueue else { return cancel() }
    queue.hold()
    cancel()
    // Reading a property waits for the queue on which `cancel` has enqueued its second step.
    _ = priority
    queue.release()
  }
}

/// An operation queue that runs each operation immediately, on the receiving thread.
///
/// All sessions share that thread, so no operation may block on a subscriber or a session.
/// Unchecked like every queue: a lock guards its additions.
private final class ReceivingQueue: OperationQueue, @unchecked Sendable {
  /// The held operations, or `nil` while it is not holding.
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

  /// Runs the held operations, and stops holding.
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
  /// Forwards to the delegate of the user's session, as other platforms do.
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

  /// Forwards to the delegate of the user's session, and accepts the refusal if no credential
  /// exists.
  ///
  /// Otherwise the platform would never finish the task.
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
        // The platform would cancel as well. The delegate queue prevents a completion during the
        // cancellation.
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

  /// Calls on the queue of the user's session, because the receiving thread must not block.
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
