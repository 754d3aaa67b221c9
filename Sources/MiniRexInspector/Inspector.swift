public import Foundation
public import MiniRex
internal import MiniRexFoundationAdapters
internal import MiniRexPageServer
public import MiniRexStore

/// A web page that shows a running program.
///
/// ```swift
/// let graph = LiveGraph()
/// setDefaultInstrument(graph)
/// let board = Store(Board(), name: "board", reducer: reduce)
/// let inspector = try Inspector(of: graph)
/// inspector.watch(board)
/// print("Look at \(inspector.url)")
/// ```
///
/// The page draws the graph with its rates and queues, and the subscribers that do not keep up. It
/// lists the commits of each watched store, each with its changes and the resulting state. The page
/// is read-only: the inspector refuses every method except `GET`.
///
/// The inspector retains no store and no source. While no page is open, it draws nothing and
/// subscribes only to stores that it always records. Releasing the inspector closes all pages and
/// frees the port.
public final class Inspector: Sendable {
  /// The IPv4 address at which the inspector listens, in numbers.
  public let address: String
  /// The port at which the inspector listens.
  public let port: UInt16
  /// The token that each request needs, or `nil` if every program on this machine may open the
  /// page.
  public let token: String?

  let inspection: InspectorCore
  var settings: Settings { inspection.settings }
  private let serving: Task<Void, Never>

  /// Creates an inspector of a graph, and serves its page.
  ///
  /// - Parameters:
  ///   - graph: The graph that the page draws. Drawing restarts the measurement of its rates, so
  ///     while a page is open, the rates in your own calls of `tree()` count from the last drawing.
  ///   - port: The port to listen at, or 0 for any free port.
  ///   - address: An IPv4 address of this machine, in numbers. At an address other than `127.…`,
  ///     other machines can open the page with the token, which travels unencrypted.
  ///   - token: The token that each request needs. By default, an inspector at `127.…` needs none,
  ///     and at another address it generates one. Traps if empty.
  /// - Throws: The system's error if the port or the address is unavailable.
  public convenience init(
    of graph: LiveGraph, port: UInt16 = 0, address: String = "127.0.0.1", token: String? = nil
  ) throws(POSIXError) {
    try self.init(of: graph, port: port, address: address, token: token, Settings())
  }

  init(
    of graph: LiveGraph, port: UInt16 = 0, address: String = "127.0.0.1", token: String? = nil,
    _ settings: Settings
  ) throws(POSIXError) {
    if token == "" { misuse("'token' requires at least one character.") }
    let token = token ?? (address.hasPrefix("127.") ? nil : makeSecret())
    guard
      let server = PageServer(
        port: port, address: address, limits: settings.limits, token: token)
    else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    self.port = server.port
    self.address = address
    self.token = token
    let inspection = InspectorCore(of: graph, settings)
    self.inspection = inspection
    // Exclude the inspector's own tasks from the program's instruments.
    serving = withInstrument(Unwatched()) {
      Task { await server.serve { inspection.answer($0) } }
    }
  }

  deinit {
    inspection.end()
    serving.cancel()
  }

  /// The URL of the page, with the token.
  ///
  /// At `0.0.0.0`, the URL contains the loopback address. On another machine, replace it with this
  /// machine's address. The inspector refuses requests under any name other than `localhost`,
  /// because another site can point its own name at this machine.
  public var url: URL { PageAddress(address: address, port: port, token: token).url }

  /// Shows the commits of a store or a scope.
  ///
  /// The page shows the encoding of an `Encodable` state. For any other state, `Mirror` shows
  /// structures, enumerations, and collections, but not the content of objects. The inspector
  /// encodes states and describes actions on its own queue. It keeps the last state and the last
  /// 200 commits, up to 4 MiB of changes.
  ///
  /// While the inspector is subscribed, each commit enqueues its state for that queue. The next
  /// change of the state then copies the storage that it changes. If more than 64 commits are
  /// queued, the oldest are dropped, and the page reports the gap. The inspector does not retain
  /// the store.
  ///
  /// - Parameters:
  ///   - store: The store to show.
  ///   - name: The name on the page and in the metrics. The default is the name of the store, or the
  ///     type of the state if no instrument observes the store.
  ///   - earlierCommits: The number of commits in earlier runs of the program, such as `lastNumber` of a
  ///     journal before it records the store. The page adds it, so that its numbers are the journal's.
  ///   - alwaysRecorded: A Boolean value that indicates whether the inspector also records commits
  ///     while no page is open. The default is `false`.
  public func watch<State, Action>(
    _ store: Store<State, Action>, name: String? = nil, earlierCommits: Int = 0,
    alwaysRecords alwaysRecorded: Bool = false
  ) {
    inspection.watch(
      store, name: name, earlierCommits: earlierCommits, alwaysRecorded: alwaysRecorded)
  }
}
