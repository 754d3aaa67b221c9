internal import Dispatch
internal import Foundation
internal import MiniRex
internal import MiniRexEssentialsAdapters

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension URLSession {
  /// Creates the transfer of a request.
  ///
  /// The first subscriber sends it.
  func transfer<Body: TransferBody>(
    _ request: URLRequest, counting direction: TransferDirection,
    to makeBody: @escaping @Sendable () throws(POSIXError) -> Body, _ fileID: String, _ line: Int,
    _ make: @escaping @Sendable (URLSession) -> URLSessionDataTask
  ) -> ProgressiveTask<TransferProgress, Body.Success, TransferFailure> {
    ProgressiveTask<TransferProgress, Body.Success, TransferFailure>(
      watchedBy: .ofSource(request.nameInGraph, fileID, line),
      sharing: SharedWork { inlet in
        let body: Body
        do throws(POSIXError) {
          body = try makeBody()
        } catch {
          inlet.finish(.finished(.failure(.file(error))))
          return .ended
        }
        let workHandle = WorkHandle()
        let transfer = Transfer(
          direction, to: body, telling: TransferReport(to: inlet, of: workHandle), of: self)
        let (task, session) = self.start(make, telling: transfer)
        return workHandle.subscription {
          guard transfer.end() else { return }
          task.cancelSoon(in: session) {
            body.discard()
            workHandle.finish()
          }
        }
      })
  }
}

extension URLSessionTask {
  /// The serial queue for completion handlers and cancellations.
  static let commands = DispatchQueue(label: "MiniRex.transfers")

  /// Cancels the task asynchronously, and then cleans up.
  func cancelSoon(in session: URLSession, cleanUp: @escaping @Sendable () -> Void = {}) {
    Self.commands.async {
      self.cancel(in: session)
      cleanUp()
    }
  }
}

extension URLRequest {
  /// The name for graphs, without possible secrets: user, password, and query.
  fileprivate var nameInGraph: String {
    let place = url.map { "\($0.host() ?? "")\($0.path())" } ?? ""
    return "\(httpMethod ?? "GET") \(place)"
  }
}
