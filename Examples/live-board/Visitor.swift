import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// A browser's connection, which brings one request.
struct Visitor: Sendable {
  private let channel: DispatchIO

  init(_ descriptor: Int32) {
    // What the system keeps for a slow browser cannot be replaced by something newer.
    var size: Int32 = 1 << 15
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, 4)
    channel = DispatchIO(type: .stream, fileDescriptor: descriptor, queue: .global()) { _ in
      close(descriptor)
    }
  }

  func serve(_ board: Board) async {
    // Also ends a write that still waits for the browser.
    defer { channel.close(flags: .stop) }
    guard let line = await requestLine() else { return }
    switch line.wholeMatch(of: /(\S+) (\/\S*) HTTP\/1\.\d/).map({ ($0.1, $0.2) }) {
    case ("GET", "/")?:
      await reply("200 OK", "text/html; charset=utf-8", Data(PackageResources.page_html))
    case ("GET", "/events")?:
      await reply("200 OK", "text/event-stream", Data())
      board.browsers.modify { $0 += 1 }
      defer { board.browsers.modify { $0 -= 1 } }
      // A slow browser misses events; neither the board nor another browser waits for it.
      for await event in board.events.values(.bufferingNewest(1)) {
        if await !send(event) { return }
      }
    case ("GET", _)?: await reply("404 Not Found")
    case (_, _)?: await reply("405 Method Not Allowed")
    case nil: await reply("400 Bad Request")
    }
  }

  /// `nil` if it does not come: browsers open connections that they may need later.
  private func requestLine() async -> String? {
    let request = DispatchSource.reads(from: channel.fileDescriptor)
      .scan(Data()) { $0 + ((try? $1.get()) ?? Data()) }
      .first { $0.range(of: Data("\r\n\r\n".utf8)) != nil || $0.count > 8192 }
      .timeout(after: .seconds(10))
    guard case .success(let head) = await request.result else { return nil }
    return String(decoding: head.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
  }

  private func reply(_ status: String, _ type: String = "text/plain", _ body: Data? = nil) async {
    let head = "HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\nConnection: close\r\n\r\n"
    _ = await send(Data(head.utf8) + (body ?? Data(status.utf8)))
  }

  /// False if nobody reads any more, or the waiting task is cancelled.
  private func send(_ data: Data) async -> Bool {
    let writing = PublishedTask<Int32, Never> { [channel] finish in
      let bytes = unsafe data.withUnsafeBytes { unsafe DispatchData(bytes: $0) }
      channel.write(offset: 0, data: bytes, queue: .global()) { isDone, _, error in
        if isDone { finish(.success(error)) }
      }
      return .ended
    }
    return await writing.result == .success(0)
  }
}
