internal import CNATS

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

extension Link {
  /// Delivers what the connection has received, and makes the next one.
  func hasLost(_ closure: UInt) {
    let lost = state.withLock { state -> (Handle, [Sink])? in
      state.lost = closure
      guard let handle = state.handle, handle.closure == closure, !state.isOpening,
        !state.mustClose
      else { return nil }
      state.handle = nil
      state.isOpening = true
      state.lastFailure = nil
      if case .open = state.phase { state.phase = .waiting([], bytes: 0) }
      return (handle, Array(state.sinks.values))
    }
    guard let (handle, sinks) = lost else { return }
    Links.remove(UnsafeMutableRawPointer(bitPattern: closure))
    let discovered = discoveredServers(handle)
    state.withLock { $0.discovered = discovered }
    inbox.reopen(over: self)
    hasDisconnected()
    for sink in sinks { sink.leave() }
    connectLater(attempt: 1, refusals: 0)
  }

  /// With the user of the first URL, as libnats has it.
  private func discoveredServers(_ handle: Handle) -> [String] {
    var found: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    var count: Int32 = 0
    let status = natsConnection_GetDiscoveredServers(handle.connection.pointer, &found, &count)
    guard status == NATS_OK, let found else { return [] }
    defer { free(found) }
    let first = servers.urls.first ?? ""
    let afterUser = first.lastIndex(of: "@").map { first.index(after: $0) }
    return (0..<Int(count)).compactMap { index in
      guard let text = found[index] else { return nil }
      defer { free(text) }
      let url = String(cString: text)
      let host = url.split(separator: "/").last.map { String($0) } ?? url
      return afterUser.map { String(first[..<$0]) + host } ?? url
    }
  }
}
