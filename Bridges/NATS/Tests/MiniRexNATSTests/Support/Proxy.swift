import Foundation

/// A way to a server that can be cut, while others reach the server.
final class Proxy: Sendable {
  private let address: Address
  private let listener: Socket
  private let state: Shared<(isCut: Bool, sockets: [Socket])>
  private let end = Shared<[UInt8]?>(nil)

  init(to target: Address) throws {
    let (listener, address) = try Socket.listening()
    let state = Shared((isCut: false, sockets: [Socket]()))
    (self.listener, self.address, self.state) = (listener, address, state)
    let end = end
    Thread.detachNewThread {
      while true {
        let descriptor = accept(listener.descriptor, nil, nil)
        if descriptor < 0 { return }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        let client = Socket(descriptor)
        guard let server = try? Socket.connected(to: target) else { continue }
        let isOpen = state.change { state in
          if state.isCut { return false }
          state.sockets += [client, server]
          return true
        }
        if !isOpen { continue }
        Thread.detachNewThread { pump(client, server) }
        Thread.detachNewThread { pump(server, client, until: end) }
      }
    }
  }

  deinit {
    cut()
    shutdown(listener.descriptor, Int32(SHUT_RDWR))
  }

  var url: String { address.url }

  func cut() {
    let sockets = state.change { state in
      state.isCut = true
      defer { state.sockets = [] }
      return state.sockets
    }
    for socket in sockets { socket.end() }
  }

  func mend() { state.change { $0.isCut = false } }

  /// Cuts once, and takes new connections, when the server has said this: what follows is not passed on.
  func cut(after words: String) { end.value = Array(words.utf8) }

  var isGoingToCut: Bool { end.value != nil }
}

extension Socket {
  fileprivate func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}

private func pump(_ from: Socket, _ to: Socket, until end: Shared<[UInt8]?> = Shared(nil)) {
  var before: [UInt8] = []
  var bytes = [UInt8](repeating: 0, count: 1 << 16)
  defer {
    from.end()
    to.end()
  }
  while true {
    var count = read(from.descriptor, &bytes, bytes.count)
    if count <= 0 { return }
    let place = end.change { end -> Int? in
      guard let words = end else { return nil }
      // What had been passed on before belongs to it only in part.
      let before = before.suffix(words.count - 1)
      guard let place = Data(before + bytes[..<count]).range(of: Data(words)) else { return nil }
      end = nil
      return place.upperBound - before.count
    }
    if let place { count = place }
    before = Array((before + bytes[..<count]).suffix(64))
    var sent = 0
    while sent < count {
      let more = bytes[sent..<count].withUnsafeBytes {
        send(to.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if more <= 0 { return }
      sent += more
    }
    if place != nil { return }
  }
}
