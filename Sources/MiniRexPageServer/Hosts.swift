/// The host names under which browsers may reach the server.
///
/// Another site can point its own name at this server, and its pages could then read every
/// response. A numeric address cannot be pointed elsewhere.
struct Hosts: Sendable {
  /// `localhost` and the loopback addresses.
  static let thisMachine = Hosts(isLoopback: true)
  /// `localhost` and every numeric address.
  static let numbers = Hosts(isLoopback: false)

  private let isLoopback: Bool

  func contains(_ host: String) -> Bool {
    let parts = host.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard parts.count == 1 || parts.count == 2 && parts[1].isNumber(1...5) else { return false }
    if parts[0].map(\.lowercased) == Array("localhost".utf8) { return true }
    let octets = parts[0].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return octets.count == 4 && octets.allSatisfy { $0.isNumber(1...3) }
      && (!isLoopback || octets[0].elementsEqual("127".utf8))
  }
}

extension Substring.UTF8View {
  fileprivate func isNumber(_ digits: ClosedRange<Int>) -> Bool {
    digits.contains(count) && allSatisfy(\.isDigit)
  }
}
