internal import CNATS
internal import Dispatch
internal import MiniRex
internal import Synchronization

/// URLs, which may hold a password, so nothing shows them.
struct Servers: Sendable, CustomStringConvertible, CustomReflectable {
  let urls: [String]

  var description: String { "\(urls.count) servers" }

  var customMirror: Mirror { Mirror(self, children: ["count": urls.count]) }
}

/// What a connection is made of: the options, the state, and what is told about it.
///
/// Publishers keep it, and libnats does until it has closed; the user's `NATSConnection`, which
/// nobody else keeps, closes it when it goes.
final class Link: Sendable {
  enum Operation: Sendable {
    case publish(Kept)
    case subscribe(Feed, Sink)
  }

  enum Phase: Sendable {
    /// Until it is connected, for the first time, when the server's limit is not known yet, or again.
    case waiting([Operation], bytes: Int)
    case open(Handle)
    case draining
    case closed
  }

  struct State: Sendable {
    var phase = Phase.waiting([], bytes: 0) {
      didSet {
        open = if case .open(let handle) = phase { .passUnretained(handle) } else { nil }
      }
    }
    /// That of the phase, used without a retain.
    private var open: Unmanaged<Handle>?
    var handle: Handle?
    /// What was subscribed to before the connection was lost, to be subscribed to before all else.
    var returning: [(Feed, Sink)] = []
    /// Until what has waited is done.
    var isOpening = true
    /// Between two attempts to connect.
    var isPausing = false
    /// The connection that was lost last.
    var lost: UInt = 0
    /// Servers that those which were connected to have told of.
    var discovered: [String] = []
    var mustClose = false
    /// Why the last attempt to connect has failed; libnats closes with there being no server left.
    var lastFailure: NATSError?
    /// By the addresses of their subscriptions, which may have gone when something is told of them.
    var sinks: [UInt: Sink] = [:]
    var lastHook = 0
    var hooks: [Int: @Sendable () -> Void] = [:]

    /// Appends a message under the lock, so that the connection need not be kept for it.
    ///
    /// - Returns: False if there is no connection with room for it, or it fails.
    func appends(_ message: Outgoing) -> Bool {
      open?._withUnsafeGuaranteedRef { $0.appends(message) } ?? false
    }

    /// True if the connection is lost, and nobody has told so yet.
    var hasLost: Bool {
      if case .open(let handle) = phase { !mustClose && handle.wire.isLost } else { false }
    }
  }

  let servers: Servers
  let options: NATSOptions
  private let connections = Atomic(0)
  let inbox = Inbox()
  let services = Services()
  let status: PublishedProperty<NATSStatus>
  let troubles: BroadcastSource<NATSTrouble>
  let hasClosed: TaskSource<Void, Never>
  let state = Lock(State())
  /// Tells what has happened, in order: a callback that blocks does not hold up libnats.
  let teller = DispatchQueue(label: "MiniRexNATS")

  init(_ urls: [String], _ options: NATSOptions, name: String, fileID: String, line: Int) {
    servers = Servers(urls: urls)
    self.options = options
    status = PublishedProperty(.connecting, name: "\(name): status", fileID: fileID, line: line)
    troubles = BroadcastSource(name: "\(name): troubles", fileID: fileID, line: line)
    hasClosed = TaskSource(name: "\(name): closing", fileID: fileID, line: line)
  }

  /// Which one of the connections that there were, one after the other; 0 before the first.
  ///
  /// It is counted before the server is asked anew for what is subscribed to.
  var connection: Int { connections.load(ordering: .acquiring) }

  func countConnection() -> Int {
    connections.add(1, ordering: .acquiringAndReleasing).newValue
  }

  func tell(_ trouble: NATSTrouble) {
    teller.async { [troubles] in troubles.broadcast(trouble) }
  }

  func tell(_ status: NATSStatus) {
    teller.async { [self] in
      if case .closed = self.status.value { return }
      self.status.value = status
    }
  }
}

extension Link {
  /// Has `hook` called, in order with what is told, each time the connection is there again.
  func onReturn(_ hook: @escaping @Sendable () -> Void) -> Int {
    state.withLock { state in
      state.lastHook += 1
      state.hooks[state.lastHook] = hook
      return state.lastHook
    }
  }

  func removeOnReturn(_ id: Int) {
    // Released after the lock.
    _ = state.withLock { $0.hooks.removeValue(forKey: id) }
  }

  func callHooks() {
    let hooks = state.withLock { Array($0.hooks.values) }
    teller.async { for hook in hooks { hook() } }
  }
}
