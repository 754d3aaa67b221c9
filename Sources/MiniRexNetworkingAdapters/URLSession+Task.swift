public import Foundation
public import MiniRex
public import MiniRexEssentialsAdapters

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension URLSession {
  /// Creates a task that loads the response into memory.
  ///
  /// ```swift
  /// let user = session.dataTask(for: request).decode(User.self)
  /// ```
  ///
  /// The first subscriber sends the request, and all subscribers share the transfer. Canceling the
  /// last subscription cancels it, and the next subscriber sends the request again. Callbacks run
  /// on a queue of the transfer. Progress is reported at most once per millisecond, and once before
  /// the result. A slow subscriber receives the latest progress and does not slow the transfer
  /// down. Progress counts the bytes of the body. The total is unknown for a compressed body.
  ///
  /// The transfer uses the configuration of this session, and its delegate for challenges and
  /// redirects. On Apple platforms it runs in this session, which must not be invalidated. On
  /// Linux, each transfer has a separate session: it opens a separate connection, uses no cache,
  /// and reports no other events to the delegate.
  public func dataTask(
    for request: URLRequest, fileID: String = #fileID, line: Int = #line
  ) -> ProgressiveTask<TransferProgress, Data, TransferFailure> {
    transfer(request, counting: .received, to: DataBody.init, fileID, line) {
      $0.dataTask(with: request)
    }
  }

  /// Creates a task that sends `body` and loads the response into memory.
  ///
  /// Progress counts the sent bytes. The request determines the method. See `dataTask(for:)`.
  public func uploadTask(
    for request: URLRequest, from body: Data, fileID: String = #fileID, line: Int = #line
  ) -> ProgressiveTask<TransferProgress, Data, TransferFailure> {
    transfer(request, counting: .sent, to: DataBody.init, fileID, line) {
      $0.uploadTask(with: request, from: body)
    }
  }

  /// Creates a task that loads the response into a file, which appears complete or not at all.
  ///
  /// The bytes go to a hidden file in the same folder. When it is complete, it replaces `file`,
  /// even if a file exists. A folder is never replaced. The success is the URL of the file. A
  /// failed or canceled transfer removes its partial file before `invalidateAndWait()` of its last
  /// subscription returns, and before `value` returns in a canceled Swift task. Only a process that
  /// ends earlier, or is killed, leaves a file `.minirex-…`. The file is not synchronized to the
  /// disk.
  ///
  /// A destination that cannot be a file, such as a folder, fails before the request is sent. A
  /// transfer that is canceled at its completion may have created its file. Writing holds about one
  /// piece in memory for any size. See `dataTask(for:)`.
  public func downloadTask(
    for request: URLRequest, to file: URL, fileID: String = #fileID, line: Int = #line
  ) -> ProgressiveTask<TransferProgress, URL, TransferFailure> {
    transfer(
      request, counting: .received,
      to: { () throws(POSIXError) in try FileBody(file) }, fileID, line
    ) { $0.dataTask(with: request) }
  }
}
