internal import Dispatch
internal import Foundation
internal import MiniRex
internal import MiniRexEssentialsAdapters

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
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
        let errand = Errand()
        let transfer = Transfer(
          direction, to: body, telling: TransferReport(to: inlet, of: errand), of: self)
        let (task, session) = self.start(make, telling: transfer)
        return errand.subscription {
          guard transfer.end() else { return }
          task.cancelSoon(in: session) {
            body.discard()
            errand.comeBack()
          }
        }
      })
  }
}

extension URLSessionTask {
  /// Where tasks are answered and cancelled, one after the other.
  static let commands = DispatchQueue(label: "MiniRex.transfers")

  /// Cancels it without waiting for the session, and then cleans up.
  func cancelSoon(in session: URLSession, cleanUp: @escaping @Sendable () -> Void = {}) {
    Self.commands.async {
      self.cancel(in: session)
      cleanUp()
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
