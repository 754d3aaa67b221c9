internal import Foundation
internal import MiniRex
internal import MiniRexEssentialsAdapters

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The direction that the progress of a transfer counts.
enum TransferDirection {
  case sent
  case received
}

/// One run of a transfer, and the delegate of its task.
final class Transfer<Body: TransferBody>: NSObject, URLSessionDataDelegate, Sendable {
  /// The number of bytes kept of the body of a refused request.
  private static var refusalLimit: Int { 65_536 }

  /// - waiting: for the response. → any
  /// - receiving: the requested body. → any. A second response follows a challenge.
  /// - refused: with a status outside 200–299. → any
  /// - over: further events are ignored.
  private enum Phase {
    case waiting
    case receiving(TransferProgress)
    case refused(HTTPURLResponse, body: Data)
    case over
  }

  private let phase = Lock(Phase.waiting)
  private let direction: TransferDirection
  private let body: Body
  private let report: TransferReport<Body.Success>
  /// The user's session, whose delegate handles redirects and challenges.
  let session: URLSession

  init(
    _ direction: TransferDirection, to body: Body, telling report: TransferReport<Body.Success>,
    of session: URLSession
  ) {
    self.direction = direction
    self.body = body
    self.report = report
    self.session = session
  }

  /// Returns `true` if this call finishes the transfer.
  @discardableResult
  func end() -> Bool {
    let old = phase.withLock { phase in
      let old = phase
      phase = .over
      return old
    }
    if case .over = old { return false }
    return true
  }

  func fail(_ failure: TransferFailure) {
    if !end() { return }
    body.discard()
    report.finish(.failure(failure))
  }

  /// Fails with the refusal, if the server refused the request.
  func acceptRefusal() -> Bool {
    guard case .refused(let response, let body) = phase.withLock({ $0 }) else { return false }
    fail(.status(response, body: body))
    return true
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    begin(response)
    answer { completionHandler(.allow) }
  }

  /// Calls a completion handler of the platform, unless the transfer is over.
  ///
  /// Completion handlers and cancellations run on one queue, because the platform traps if a
  /// handler is called during or after a cancellation.
  func answer(_ complete: @escaping @Sendable () -> Void) {
    URLSessionTask.commands.async { [self] in
      if !isOver { complete() }
    }
  }

  /// `true` if further events are ignored.
  var isOver: Bool {
    phase.withLock { phase in
      if case .over = phase { return true }
      return false
    }
  }

  private func begin(_ response: URLResponse) {
    let next: Phase
    if let answer = response as? HTTPURLResponse, !(200...299).contains(answer.statusCode) {
      next = .refused(answer, body: Data())
    } else {
      next = .receiving(TransferProgress(done: 0, expected: response.expectedCount))
    }
    let old = phase.withLock { phase in
      let old = phase
      if case .over = old {} else { phase = next }
      return old
    }
    do throws(POSIXError) {
      switch old {
      case .over: return
      case .waiting: break
      case .receiving, .refused: try body.restart()
      }
    } catch {
      return fail(.file(error))
    }
    if direction == .received, case .receiving(let progress) = next {
      report.progress(progress)
    }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let progress = phase.withLock { phase -> TransferProgress? in
      switch phase {
      case .waiting:
        phase = .receiving(TransferProgress(done: data.count, expected: nil))
      case .receiving(var progress):
        progress.done += data.count
        phase = .receiving(progress)
      case .refused(let response, var body):
        phase = .over
        body.append(data.prefix(Self.refusalLimit - body.count))
        phase = .refused(response, body: body)
      case .over:
        break
      }
      if case .receiving(let progress) = phase { return progress }
      return nil
    }
    guard let progress else { return }
    do throws(POSIXError) {
      try body.append(data)
    } catch {
      fail(.file(error))
      return dataTask.cancelSoon(in: session)
    }
    if direction == .received { report.progress(progress) }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64,
    totalBytesSent: Int64, totalBytesExpectedToSend: Int64
  ) {
    if direction != .sent { return }
    let expected = totalBytesExpectedToSend >= 0 ? Int(totalBytesExpectedToSend) : nil
    report.progress(TransferProgress(done: Int(totalBytesSent), expected: expected))
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    if let error { return fail(.url(URLError(of: error))) }
    if acceptRefusal() || !end() { return }
    do throws(POSIXError) {
      report.finish(.success(try body.finish()))
    } catch {
      report.finish(.failure(.file(error)))
    }
  }
}

extension URLResponse {
  /// The expected number of bytes, or `nil` if it is unknown.
  fileprivate var expectedCount: Int? {
    if let answer = self as? HTTPURLResponse,
      let encoding = answer.value(forHTTPHeaderField: "Content-Encoding"), encoding != "identity"
    {
      return nil
    }
    return expectedContentLength >= 0 ? Int(expectedContentLength) : nil
  }
}

extension URLError {
  /// Creates a failure from the platform's error, without its wrappers.
  init(of error: any Error) {
    if let error = error as? URLError {
      self = error
    } else {
      let error = error as NSError
      let code: Code? = error.domain == NSURLErrorDomain ? Code(rawValue: error.code) : nil
      self.init(code ?? .unknown, userInfo: [NSUnderlyingErrorKey: error])
    }
  }
}
