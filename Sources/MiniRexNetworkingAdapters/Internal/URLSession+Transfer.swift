import Dispatch
import Foundation
import MiniRex
import MiniRexEssentialsAdapters

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension URLSession {
  /// Makes the transfer of a request, which is sent for the first subscriber.
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
        let transfer = Transfer(
          direction, to: body, telling: TransferReport(to: inlet), of: self)
        let (task, session) = self.start(make, telling: transfer)
        return Subscription {
          if transfer.end() { task.cancelSoon(in: session, discarding: body) }
        }
      })
  }
}

extension URLSessionTask {
  /// Where tasks are answered and cancelled, one after the other.
  static let commands = DispatchQueue(label: "MiniRex.transfers")

  /// Cancels it without waiting for the session.
  func cancelSoon(in session: URLSession, discarding body: (any TransferBody)? = nil) {
    Self.commands.async {
      body?.discard()
      self.cancel(in: session)
    }
  }
}

extension URLRequest {
  /// Without what may be a secret: user, password and query.
  fileprivate var nameInGraph: String {
    let place = url.map { "\($0.host() ?? "")\($0.path())" } ?? ""
    return "\(httpMethod ?? "GET") \(place)"
  }
}
