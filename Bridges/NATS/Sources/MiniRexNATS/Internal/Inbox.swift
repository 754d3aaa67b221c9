internal import CNATS
internal import MiniRex

/// Where all answers to the requests of one connection come, on one subscription.
///
/// A request `n` is answered on `_INBOX.minirex-1.ID.n`, after progress on `….n.progress`. Whoever
/// answers asks on `….n.probe` if somebody still waits: if the process has gone, the server says
/// so; if the request has, this does.
final class Inbox: Sendable {
  enum Answer {
    case result(RawMessage)
    case progress(RawMessage)
    case failure(NATSError)
  }

  struct Request: Sendable {
    let subject: String
    let receive: @Sendable (Answer) -> Void
  }

  private struct State: Sendable {
    var lastNumber: UInt64 = 0
    var requests: [UInt64: Request] = [:]
  }

  /// What a connection that answers recognises this one by.
  static let mark = "_INBOX.minirex-1."

  let prefix =
    mark + UInt64.random(in: 0 ... .max).letters + UInt64.random(in: 0 ... .max).letters + "."
  private let state = Lock(State())
  private let token = Lock<Subscription?>(nil)

  func replySubject(of number: UInt64) -> String { prefix + "\(number)" }

  /// Subscribes before the first request, so that the server knows it before that.
  func add(_ request: Request, over link: Link) -> UInt64 {
    open(over: link)
    return state.withLock { state in
      state.lastNumber += 1
      state.requests[state.lastNumber] = request
      return state.lastNumber
    }
  }

  /// Whoever comes second waits until the first has subscribed.
  ///
  /// An answer that comes before that would be lost. What the lock is held for calls libnats only.
  func open(over link: Link) {
    token.withLock { token in
      if token == nil { token = subscribe(over: link) }
    }
  }

  /// Subscribes anew when a connection is lost, so that answers which come over the next one do not
  /// wait for callbacks that are still under way.
  func reopen(over link: Link) {
    let old = token.withLock { token -> Subscription? in
      guard let old = token else { return nil }
      token = subscribe(over: link)
      return old
    }
    old?.invalidate()
  }

  /// `nil` if it has been answered.
  func remove(_ number: UInt64) -> Request? {
    state.withLock { $0.requests.removeValue(forKey: number) }
  }

  func failAll(_ error: NATSError) {
    let requests = state.withLock { state in
      defer { state.requests = [:] }
      return state.requests
    }
    for number in requests.keys.sorted() { requests[number]?.receive(.failure(error)) }
  }

  private func subscribe(over link: Link) -> Subscription {
    link.subscribe(to: prefix + ">", queue: nil) { [weak link, self] message in
      if let link { take(message, over: link) }
    }
  }

  private func take(_ message: RawMessage, over link: Link) {
    let (number, rest) = message.number(after: prefix.utf8.count)
    guard let number else { return }
    switch rest {
    case "":
      guard let request = remove(number) else { return }
      if message.saysNoResponders { return request.receive(.failure(.noResponders)) }
      request.receive(.result(message))
    case ".progress": state.withLock { $0.requests[number] }?.receive(.progress(message))
    case ".probe":
      if state.withLock({ $0.requests[number] != nil }) { return }
      guard let reply = message.replySubject else { return }
      try? link.publish(
        Outgoing(subject: reply, headers: [:], bytes: UnsafeRawBufferPointer(start: nil, count: 0)))
    case ".gone": link.services.requesterHasGone(number)
    default: break
    }
  }
}

extension UInt64 {
  /// Short, and fit for a part of a subject.
  var letters: String { String(self, radix: 36) }
}

extension RawMessage {
  /// The number that stands in the subject after so many letters, and what follows it.
  func number(after count: Int) -> (UInt64?, String) {
    guard var letter = natsMsg_GetSubject(pointer) else { return (nil, "") }
    letter += count
    var number: UInt64?
    while let digit = UInt8(exactly: letter.pointee), 0x30...0x39 ~= digit {
      let (product, overflows) = (number ?? 0).multipliedReportingOverflow(by: 10)
      if overflows { return (nil, "") }
      number = product &+ UInt64(digit - 0x30)
      letter += 1
    }
    return (number, letter.pointee == 0 ? "" : String(cString: letter))
  }
}
