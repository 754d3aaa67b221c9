import Foundation
import MiniRex

/// A browser's connection, which carries one request.
struct Connection: Sendable {
  private let socket: Socket
  private let poller: Poller
  private let limits: Limits

  init(_ socket: Socket, _ poller: Poller, _ limits: Limits) {
    socket.set(SO_SNDBUF, to: limits.buffer)
    self.socket = socket
    self.poller = poller
    self.limits = limits
  }

  func serve(
    _ parser: RequestParser, _ answer: @escaping @Sendable (Request) async -> Reply
  ) async {
    let start = ContinuousClock.now
    let request = await request(parser, until: start + limits.requestTime)
    // A browser that has sent its request slowly has to disconnect fast.
    let patience = limits.patience(afterRequest: start.duration(to: .now))
    switch request {
    case .success(let request)?:
      switch await reply(to: request, answer) {
      case .status(let status, let reason): await send(status, reason, patience)
      case .content(let type, let data):
        await send(Head("200 OK", type, length: data.count), data, patience)
      case .page(let html): await send(page: html, patience)
      case .events(let events, let slow): await stream(events, slow)
      }
    case .failure(let status)?: await send(status, status.reason, patience)
    case nil: break
    }
  }

  /// Returns `nil` if no byte arrives.
  ///
  /// Browsers open connections in advance.
  private func request(
    _ parser: RequestParser, until deadline: ContinuousClock.Instant
  ) async -> Result<Request, Status>? {
    var parser = parser
    while true {
      switch socket.receive() {
      case .bytes(let bytes):
        if let result = parser.take(bytes) { return result }
      case .nothingYet:
        switch await poller.wait(for: socket, POLLIN, until: deadline) {
        case .ready: continue
        case .timedOut: return parser.hasBegun ? .failure(.timeout) : nil
        case .canceled: return nil
        }
      case .end: return parser.hasBegun ? .failure(.badRequest) : nil
      }
    }
  }

  /// Cancels the task of the answer when the browser disconnects.
  private func reply(
    to request: Request, _ answer: @escaping @Sendable (Request) async -> Reply
  ) async -> Reply {
    await withTaskGroup(of: Reply?.self, returning: Reply.self) { group in
      group.addTask { await answer(request) }
      group.addTask {
        await leaving()
        return nil
      }
      var reply: Reply?
      for await first in group {
        reply = reply ?? first
        group.cancelAll()
      }
      return reply ?? .status(.badRequest)
    }
  }

  /// Returns when the browser has disconnected, or at the deadline.
  private func leaving(until deadline: ContinuousClock.Instant? = nil) async {
    while await poller.wait(for: socket, POLLIN, until: deadline) == .ready {
      if case .end = socket.receive() { return }
    }
  }

  private func stream(_ events: Broadcaster<Data>, _ slow: Reply.SlowBrowser) async {
    guard await send(Head("200 OK", "text/event-stream").bytes) else { return }
    let policy: BufferingPolicy<BroadcasterKind> =
      switch slow {
      case .missesEvents: .bufferingNewest(1)
      case .beginsAnew: .bufferingOldest(limits.events)
      case .delaysEvents: .suspending(1)
      }
    let values = events.values(policy)
    await withDiscardingTaskGroup { group in
      // Notice a disconnect immediately, instead of when the next event fails to be sent.
      group.addTask {
        await leaving()
        values.invalidate()
      }
      defer { group.cancelAll() }
      for await event in values {
        guard await send(Array(event)) else { return }
        if slow == .beginsAnew && values.droppedCount > 0 { return }
      }
    }
  }

  private func send(page html: Data, _ patience: Duration) async {
    let nonce = makeSecret()
    let page = String(decoding: html, as: UTF8.self).replacing("NONCE", with: nonce)
    let body = Data(page.utf8)
    await send(
      Head("200 OK", "text/html; charset=utf-8", length: body.count, nonce: nonce), body,
      patience)
  }

  private func send(_ status: Status, _ reason: String, _ patience: Duration) async {
    let body = Data("\(reason.isEmpty ? status.line : reason)\n".utf8)
    await send(
      Head(status.line, "text/plain; charset=utf-8", length: body.count), body,
      patience)
  }

  /// Sends a response, and returns when the browser has closed the connection, or the time is over.
  ///
  /// Closing first would discard the response if the browser were still sending.
  private func send(_ head: Head, _ body: Data, _ patience: Duration) async {
    guard await send(head.bytes + body) else { return }
    socket.finish()
    await leaving(until: .now + patience)
  }

  /// Returns `false` if the browser disconnected or reads too slowly, or if the task is canceled.
  private func send(_ bytes: [UInt8]) async -> Bool {
    let deadline = ContinuousClock.now + limits.unreadTime
    var rest = bytes[...]
    while !rest.isEmpty {
      guard let count = socket.send(rest) else { return false }
      rest = rest.dropFirst(count)
      if count == 0, await poller.wait(for: socket, POLLOUT, until: deadline) != .ready {
        return false
      }
    }
    return true
  }
}
