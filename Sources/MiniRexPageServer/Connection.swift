import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// A browser's connection, which brings one request.
struct Connection: Sendable {
  private let socket: Socket
  private let limits: Limits
  private let hosts: Hosts

  init(_ socket: Socket, _ limits: Limits, _ hosts: Hosts) {
    socket.set(SO_SNDBUF, to: limits.buffer)
    self.socket = socket
    self.limits = limits
    self.hosts = hosts
  }

  func serve(_ answer: @Sendable (Request) async -> Reply) async {
    switch await request() {
    case .success(let request)?:
      switch await answer(request) {
      case .status(let status, let reason): await reply(status, reason)
      case .content(let type, let data): await reply("200 OK", type, data)
      case .events(let events, let slow): await stream(events, slow)
      }
    case .failure(let status)?: await reply(status)
    case nil: break
    }
  }

  /// `nil` if nothing comes: browsers open connections that they may need later.
  private func request() async -> Result<Request, Status>? {
    let reader = RequestReader(limits, hosts)
    let request = DispatchSource.reads(from: socket.descriptor)
      .compactMap { reader.take((try? $0.get()) ?? Data()) }
      .first { _ in true }
      .timeout(after: limits.requestTime)
    switch await request.result {
    case .success(let result): return result
    case .failure(.timedOut): return reader.hasBegun ? .failure(.timeout) : nil
    // It has ended: there was a beginning, or nothing.
    default: return reader.hasBegun ? .failure(.badRequest) : nil
    }
  }

  private func stream(_ events: Broadcaster<Data>, _ slow: Reply.SlowBrowser) async {
    guard await send(head("200 OK", "text/event-stream")) else { return }
    let values = events.values(
      slow == .missesEvents ? .bufferingNewest(1) : .bufferingOldest(limits.events))
    // One that has gone is forgotten at once, and not only when there is something to send.
    let leaving = DispatchSource.reads(from: socket.descriptor)
      .subscribe({ _ in }, onEnd: { values.invalidate() })
    defer { leaving.invalidate() }
    for await event in values {
      guard await send(event) else { return }
      if slow == .beginsAnew && values.droppedCount > 0 { return }
    }
  }

  private func reply(_ status: Status, _ reason: String = "") async {
    let text = reason.isEmpty ? status.line : reason
    await reply(status.line, "text/plain; charset=utf-8", Data("\(text)\n".utf8))
  }

  /// Waits until the browser has it: closing while something is unread here would take it back.
  private func reply(_ status: String, _ type: String, _ body: Data) async {
    guard await send(head(status, type, length: body.count) + body) else { return }
    shutdown(socket.descriptor, Int32(SHUT_WR))
    let leaving = DispatchSource.reads(from: socket.descriptor).first { _ in false }
      .timeout(after: limits.requestTime)
    _ = await leaving.result
  }

  private func head(_ status: String, _ type: String, length: Int? = nil) -> Data {
    let length = length.map { "Content-Length: \($0)\r\n" } ?? ""
    return Data(
      """
      HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\n\(length)Cache-Control: no-store\r
      X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n
      """.utf8)
  }

  /// False if nobody reads any more, or the waiting task is cancelled.
  private func send(_ data: Data) async -> Bool {
    let writing = PublishedTask<Bool, Never> { [socket] finish in
      socket.write(data) { finish(.success($0)) }
    }
    .timeout(after: limits.unreadTime)
    if case .success(true) = await writing.result { return true }
    return false
  }
}
