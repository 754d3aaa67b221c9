// Platforms on which the delegate of a task receives all events, and on which the session waits for
// it.
#if !canImport(FoundationNetworking)
internal import Foundation

extension URLSession {
  /// Starts a task in this session.
  ///
  /// The platform forwards events that the delegate of the task does not implement to the
  /// delegate of the session.
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
  /// Cancels the task in its session.
  func cancel(in session: URLSession) { cancel() }
}
#endif
