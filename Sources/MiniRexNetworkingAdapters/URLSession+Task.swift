public import Foundation
public import MiniRex
public import MiniRexEssentialsAdapters

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

extension URLSession {
  /// Loads what the server answers into memory.
  ///
  /// ```swift
  /// let user = session.dataTask(for: request).decode(User.self)
  /// ```
  ///
  /// The request is sent when somebody subscribes, once for all subscribers; when the last one
  /// leaves, it is cancelled, and the next one sends it anew. Updates come on a queue of the
  /// transfer, progress at most once a millisecond, but for the last, which comes before the result;
  /// a subscriber that is slow gets the latest, and does not hold the transfer up. Progress counts
  /// the bytes of the body; how many are expected is not known if the body is compressed.
  ///
  /// The transfer has the configuration of this session, and asks its delegate about challenges and
  /// redirects. On Apple platforms it runs in this session, which must not have been invalidated.
  /// On Linux, where a session cannot tell of one transfer, each has a session of its own: it opens
  /// its own connection, uses no cache, and the delegate hears nothing else of it.
  public func dataTask(
    for request: URLRequest, fileID: String = #fileID, line: Int = #line
  ) -> ProgressiveTask<TransferProgress, Data, TransferFailure> {
    transfer(request, counting: .received, to: DataBody.init, fileID, line) {
      $0.dataTask(with: request)
    }
  }

  /// Sends `body`, and loads what the server answers into memory.
  ///
  /// Progress counts the bytes that are sent. Otherwise it is like `dataTask(for:)`; the method of
  /// the request is yours to say.
  public func uploadTask(
    for request: URLRequest, from body: Data, fileID: String = #fileID, line: Int = #line
  ) -> ProgressiveTask<TransferProgress, Data, TransferFailure> {
    transfer(request, counting: .sent, to: DataBody.init, fileID, line) {
      $0.uploadTask(with: request, from: body)
    }
  }

  /// Loads what the server answers into a file, which appears whole or not at all.
  ///
  /// The bytes go to a hidden file in the same folder, which takes the place of `file` when they
  /// are complete, even if there is a file already; a folder is never replaced. Success is the URL
  /// of the file. A transfer that fails or is cancelled removes what it has written: it has done so
  /// when `invalidateAndDrain()` of its last subscription returns, or `value` in a Swift task that
  /// was cancelled. Only a program that ends before that, or is killed, leaves a file `.minirex-…`
  /// behind. The file is not forced to the disk.
  ///
  /// A place where no file can be, such as a folder, is a failure before anything is sent. One that
  /// is left just when it is complete may have made its file. Writing holds about a piece of the
  /// file in memory, whatever its size. Otherwise it is like `dataTask(for:)`.
  public func downloadTask(
    for request: URLRequest, to file: URL, fileID: String = #fileID, line: Int = #line
  ) -> ProgressiveTask<TransferProgress, URL, TransferFailure> {
    transfer(
      request, counting: .received,
      to: { () throws(POSIXError) in try FileBody(file) }, fileID, line
    ) { $0.dataTask(with: request) }
  }
}
