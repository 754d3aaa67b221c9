// Where the delegate of a task hears all of it, and is waited for.
#if !canImport(FoundationNetworking)
  internal import Foundation

  extension URLSession {
    /// Starts a task in this session.
    ///
    /// What its delegate does not know, the platform asks that of the session.
    func start(
      _ make: (URLSession) -> URLSessionDataTask, telling delegate: any URLSessionDataDelegate
    ) -> (URLSessionTask, URLSession) {
      let task = make(self)
      task.delegate = delegate
      task.resume()
      return (task, self)
    }
  }

  extension URLSessionTask {
    /// Cancels it in the session that it was started in.
    func cancel(in session: URLSession) { cancel() }
  }
#endif
