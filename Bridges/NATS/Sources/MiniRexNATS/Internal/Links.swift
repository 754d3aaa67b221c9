/// The links that libnats may call, by numbers that it takes for pointers.
///
/// It calls about a connection also after it has said that this is closed, for instance that what was
/// draining could not be flushed. By then the number leads nowhere.
enum Links {
  private struct State: Sendable {
    var lastNumber: UInt = 0
    var links: [UInt: Link] = [:]
  }

  private static let state = Lock(State())

  static func add(_ link: Link) -> UnsafeMutableRawPointer? {
    let number = state.withLock { state in
      state.lastNumber += 1
      state.links[state.lastNumber] = link
      return state.lastNumber
    }
    return UnsafeMutableRawPointer(bitPattern: number)
  }

  static func find(_ closure: UnsafeMutableRawPointer?) -> Link? {
    state.withLock { $0.links[UInt(bitPattern: closure)] }
  }

  @discardableResult
  static func remove(_ closure: UnsafeMutableRawPointer?) -> Link? {
    state.withLock { $0.links.removeValue(forKey: UInt(bitPattern: closure)) }
  }
}
