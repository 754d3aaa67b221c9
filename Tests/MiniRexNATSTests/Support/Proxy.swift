#if NATS
import Foundation
import TestSupport

/// A proxy for a server that can be cut, while other clients reach the server.
final class Proxy: Sendable {
  let address: Address
  private let listener: Socket
  private let state: Shared<(isCut: Bool, sockets: [Socket])>
  private let end = Shared<[UInt8]?>(nil)
  /// The traffic of earlier connections, then of the next connection.
  private let traffic = Shared([Shared(Traffic.passes)])

  init(to target: Address) throws {
    let (listener, address) = try Socket.listening()
    let state = Shared((isCut: false, sockets: [Socket]()))
    (self.listener, self.address, self.state) = (listener, address, state)
    let (end, traffic) = (end, traffic)
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
        let current = traffic.value[traffic.value.count - 1]
        Thread.detachNewThread { pump(client, server, current) }
        Thread.detachNewThread { pump(server, client, current, isAnswer: true, until: end) }
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

  /// Drops everything that the server sends on the present connections, which stay open.
  func loseAnswers() { change(.losesAnswers) }

  /// Holds the traffic in both directions, on connections that stay open.
  func hold() { for traffic in traffic.value { traffic.value = .waits } }

  /// Holds the traffic of the present connections, and forwards the traffic of new connections.
  func strand() { change(.waits) }

  private func change(_ present: Traffic) {
    for traffic in traffic.value { traffic.value = present }
    traffic.append(Shared(.passes))
  }

  /// Forwards all held and all later traffic.
  func pass() { for traffic in traffic.value { traffic.value = .passes } }

  /// Cuts the connection once after the server has sent the words, and drops what follows.
  func cut(after words: String) { end.value = Array(words.utf8) }

  var isGoingToCut: Bool { end.value != nil }
}

private enum Traffic { case passes, losesAnswers, waits }

extension Socket {
  fileprivate func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}

private func pump(
  _ from: Socket, _ to: Socket, _ traffic: Shared<Traffic>, isAnswer: Bool = false,
  until end: Shared<[UInt8]?> = Shared(nil)
) {
  var before: [UInt8] = []
  var bytes = [UInt8](repeating: 0, count: 1 << 16)
  defer {
    from.end()
    to.end()
  }
  while true {
    var count = unsafe read(from.descriptor, &bytes, bytes.count)
    if count <= 0 { return }
    while traffic.value == .waits { usleep(5_000) }
    if isAnswer, traffic.value == .losesAnswers { continue }
    let place = end.change { end -> Int? in
      guard let words = end else { return nil }
      // The forwarded bytes may end with a part of the words.
      let before = before.suffix(words.count - 1)
      guard let place = Data(before + bytes[..<count]).range(of: Data(words)) else { return nil }
      end = nil
      return place.upperBound - before.count
    }
    if let place { count = place }
    before = Array((before + bytes[..<count]).suffix(64))
    var sent = 0
    while sent < count {
      let more = unsafe bytes[sent..<count].withUnsafeBytes {
        unsafe send(to.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if more <= 0 { return }
      sent += more
    }
    if place != nil { return }
  }
}
#endif
