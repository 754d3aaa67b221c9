public import Foundation
public import MiniRex
internal import MiniRexFoundationAdapters
internal import MiniRexPageServer
public import MiniRexStore

/// A page that shows what a program does, for as long as it is kept.
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
/// The page draws the graph with its rates and what waits in it, and shows the commits of the stores
/// that are watched as they come, each with what it has changed and the state after it. It only looks:
/// whatever is not a `GET` is refused.
///
/// It keeps neither a store nor a source alive. What nobody looks at costs nothing: the graph is drawn,
/// and stores are subscribed to, while a page is open. Releasing the inspector ends all pages and frees
/// the port.
public final class Inspector: Sendable {
  /// Where it is reached, in numbers.
  public let address: String
  /// Where it is reached.
  public let port: UInt16
  /// What a browser has to know; `nil` if everybody on this machine may look.
  public let token: String?

  private let inspection: Inspection
  var settings: Settings { inspection.settings }
  private let serving: Task<Void, Never>

  /// Serves a page about what a graph watches.
  ///
  /// - Parameters:
  ///   - graph: What is drawn. Drawing begins to measure its rates anew, so that those of `tree()`
  ///     elsewhere count from then while a page is open.
  ///   - port: Where to serve; 0 for any port that is free.
  ///   - address: An IPv4 address of this machine, in numbers. At any but `127.…` whoever reaches the
  ///     machine may look if they know the token, which travels as it is.
  ///   - token: What a browser has to know. Without one, everybody on this machine may look; at another
  ///     address one is made. It must not be empty, which stops the program.
  /// - Throws: Why it cannot have the port, or the address.
  public convenience init(
    of graph: LiveGraph, port: UInt16 = 0, address: String = "127.0.0.1", token: String? = nil
  ) throws(POSIXError) {
    try self.init(of: graph, port: port, address: address, token: token, Settings())
  }

  init(
    of graph: LiveGraph, port: UInt16 = 0, address: String = "127.0.0.1", token: String? = nil,
    _ settings: Settings
  ) throws(POSIXError) {
    if token == "" { misuse("The token of an inspector has at least one character.") }
    guard let server = PageServer(port: port, address: address, limits: settings.limits) else {
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
    let token = token ?? (address.hasPrefix("127.") ? nil : randomWord() + randomWord())
    self.port = server.port
    self.address = address
    self.token = token
    let inspection = Inspection(of: graph, settings)
    self.inspection = inspection
    // What serves the page is none of what the program does.
    serving = withInstrument(Unwatched()) {
      Task { await server.serve { inspection.answer($0, token: token) } }
    }
  }

  deinit {
    inspection.end()
    serving.cancel()
  }

  /// What to open in a browser, with the token.
  ///
  /// At `0.0.0.0`, which is every address of this machine, it is the one that this machine has for
  /// itself: elsewhere, put in the machine's number. Pages are refused under a name other than
  /// `localhost`, which could be a trick of another page.
  public var url: URL {
    var parts = URLComponents()
    (parts.scheme, parts.host, parts.path) = ("http", address, "/")
    if address == "0.0.0.0" { parts.host = "127.0.0.1" }
    parts.port = Int(port)
    if let token {
      let value = token.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
      parts.percentEncodedQuery = "token=\(value ?? "")"
    }
    guard let url = parts.url else { misuse("\(parts) is no address.") }
    return url
  }

  /// Shows the commits of a store, or of a part of one.
  ///
  /// A state that is `Encodable` is shown as it is encoded, another one as `Mirror` sees it, into
  /// structures, enumerations and collections but not into objects. The encoding, and what describes an
  /// action, are called on a queue of the inspector. The last 200 commits are kept, as far as their
  /// changes take no more than 4 MiB, and the last state, encoded.
  ///
  /// While it is subscribed to, each `send` leaves its state to that queue: so it costs one hop, and the
  /// next change copies what it changes, as always when somebody keeps an old state. If more than 64
  /// commits wait there the oldest are left out, which the page shows. The store is not kept alive.
  ///
  /// - Parameters:
  ///   - store: What to look at.
  ///   - name: What the page calls it; its state's type if you say nothing.
  ///   - evenUnseen: Whether commits are remembered while no page is open too, so that one that is
  ///     opened after something has happened shows what it was.
  public func watch<State, Action>(
    _ store: Store<State, Action>, name: String? = nil, evenUnseen: Bool = false
  ) {
    inspection.add(
      WatchedStore(store, name: name ?? "\(State.self)", inspection.queue, inspection.settings),
      evenUnseen: evenUnseen)
  }
}
