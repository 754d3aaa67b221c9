#if NATS
public import Foundation
internal import MiniRex
internal import MiniRexInspector
public import MiniRexNATS
internal import MiniRexPageServer

/// A web page that shows the processes of a fleet.
///
/// ```swift
/// let page = try FleetPage(of: "production", over: nats, port: 8080)
/// print("Look at \(page.url)")
/// ```
///
/// Any process may serve it, a member or not, and several may. Each ``FleetMember`` is a row, within 2 seconds after it
/// is created. Without a report for 6 seconds, the process counts as lost. The rows are sorted by severity. If the
/// server does not answer, the page shows that within 6 seconds and fades every row, because none is known to be true.
///
/// The page is read-only. A row of a member with `inspecting:` has a link to its inspector, whose data the server
/// forwards.
///
/// A lost process is replaced by a process with its name that joins later on its host. That row shows the number of
/// restarts.
///
/// Releasing it closes all pages and frees the port. It retains the connection. It lists up to 5,000 processes, and
/// removes a lost process after 10 minutes. Further processes replace the oldest lost process, or are refused. The page
/// shows the number of refused reports.
public final class FleetPage: Sendable {
  /// The IPv4 address at which the page is served, in numbers.
  public let address: String
  /// The port at which the page is served.
  public let port: UInt16
  /// The token that each request needs, or `nil` if every program on this machine may open the page.
  public let token: String?

  let core: FleetCore
  private let serving: Task<Void, Never>

  /// Creates a page of a fleet, and serves it.
  ///
  /// - Parameters:
  ///   - fleet: The name of the fleet, of letters, digits, `-`, and `_`. Traps on another name.
  ///   - nats: The connection over which the reports arrive.
  ///   - port: The port to listen at, or 0, the default, for any free port.
  ///   - address: An IPv4 address of this machine, in numbers. At an address other than `127.…`, other machines can
  ///     open the page with the token, which travels unencrypted.
  ///   - token: The token that each request needs. By default, a page at `127.…` needs none, and at another address
  ///     one is generated. Traps if empty.
  /// - Throws: The system's error if the port or the address is unavailable.
  public init(
    of fleet: String, over nats: NATSConnection, port: UInt16 = 0, address: String = "127.0.0.1",
    token: String? = nil
  ) throws(POSIXError) {
    FleetSubject.requireFleet(fleet, of: "FleetPage")
    if token == "" { misuse("'token' requires at least one character.") }
    let token = token ?? (address.hasPrefix("127.") ? nil : makeSecret())
    guard let server = PageServer(port: port, address: address, limits: .ofPages, token: token)
    else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    self.port = server.port
    self.address = address
    self.token = token
    // Exclude the page's own subscriptions and tasks from the program's instruments.
    (core, serving) = withInstrument(Unwatched()) {
      let core = FleetCore(of: fleet, over: nats)
      return (core, Task { await server.serve { await core.answer($0) } })
    }
  }

  deinit {
    core.end()
    serving.cancel()
  }

  /// The URL of the page, with the token.
  ///
  /// At `0.0.0.0`, the URL contains the loopback address. On another machine, replace it with this machine's address.
  /// Requests under any name other than `localhost` are refused.
  public var url: URL { PageAddress(address: address, port: port, token: token).url }
}
#endif
