#if NATS
internal import CNATS
internal import Dispatch
internal import MiniRex
internal import Synchronization

/// The options and the state of a connection, with its status and its diagnostics.
///
/// Publishers retain it, and libnats does until it has closed the connection. Only the user retains
/// `NATSConnection`, which closes it in `deinit`.
final class ConnectionCore: Sendable {
  enum Operation: Sendable {
    case publish(QueuedMessage)
    case subscribe(ServerSubscription, MessageHandler)
  }

  enum Phase: Sendable {
    /// Not connected, before the first connection or after a loss.
    ///
    /// The server's limit may be unknown.
    case waiting([Operation], bytes: Int)
    case open(LibNATSConnection)
    case draining
    case closed
  }

  struct State: Sendable {
    var phase = Phase.waiting([], bytes: 0) {
      didSet {
        open = if case .open(let handle) = phase { .passUnretained(handle) } else { nil }
      }
    }
    /// The connection of the phase, used without a retain.
    private var open: Unmanaged<LibNATSConnection>?
    var handle: LibNATSConnection?
    /// The version of the server of the most recent connection.
    var serverVersion: String?
    /// The counters of lost connections.
    var earlier = NATSStatistics()
    /// The subscriptions of the lost connection, which precede all other operations.
    var returning: [(ServerSubscription, MessageHandler)] = []
    /// A Boolean value that indicates whether queued operations are still being performed.
    var isOpening = true
    /// A Boolean value that indicates whether it waits between two attempts to connect.
    var isPausing = false
    /// The attempt to connect that is in progress.
    var attempt: ConnectAttempt?
    /// The identifier of the most recently lost connection.
    var lost: UInt = 0
    /// The servers of the cluster that were announced.
    var discovered: [ServerAddress] = []
    /// The maximum number of subscriptions, learned from the errors of the server.
    var subscriptionLimit = Int.max
    /// The amount by which the next error reduces the limit.
    var subscriptionExcess = 1
    var mustClose = false
    /// The reason of the last failed attempt, which libnats does not report.
    var lastFailure: NATSError?
    /// The handlers by the addresses of their subscriptions, which may be freed when libnats
    /// reports on them.
    var handlers: [UInt: MessageHandler] = [:]
    var lastHook = 0
    var hooks: [Int: @Sendable () -> Void] = [:]

    /// Appends a message under the lock, which saves a retain of the connection.
    ///
    /// - Returns: `false` if no connection has room for it, or the append fails.
    func appends(_ message: OutgoingMessage) -> Bool {
      open?._withUnsafeGuaranteedRef { $0.appends(message) } ?? false
    }

    /// A Boolean value that indicates whether a connection is lost and libnats has not reported it
    /// yet.
    var isLost: Bool {
      if case .open(let handle) = phase { !mustClose && handle.wire.isLost } else { false }
    }
  }

  let servers: Result<[ServerAddress], NATSError>
  let options: NATSOptions
  private let connections = Atomic(0)
  private let longestLine: Atomic<Int>
  private let dropped = Atomic(0)
  let inbox: Inbox
  let services: RequestServer
  let status: PublishedProperty<NATSStatus>
  let diagnostics: BroadcastSource<NATSDiagnostic>
  let hasClosed: TaskSource<Void, Never>
  let state = Lock(State())
  /// The status for the bridge, which no callback of a subscriber delays.
  ///
  /// It changes on `maintenance`.
  let isConnected = PublishedProperty(false)
  /// Delivers the status to subscribers.
  private let statusQueue = DispatchQueue(label: "MiniRexNATS.status")
  /// Delivers the diagnostics to subscribers.
  private let diagnosticsQueue = DispatchQueue(label: "MiniRexNATS.diagnostics")
  /// Resumes and checks streams and buckets.
  ///
  /// No callback of a subscriber runs here.
  let maintenance = DispatchQueue(label: "MiniRexNATS.maintenance")

  init(_ urls: [String], _ options: NATSOptions, name: String, fileID: String, line: Int) {
    servers = Result { () throws(NATSError) in try ServerAddress.list(urls) }
    self.options = options
    longestLine = Atomic(options.lineLimit)
    inbox = Inbox(options.inboxPrefix)
    services = RequestServer(options)
    status = PublishedProperty(.connecting, name: "\(name): status", fileID: fileID, line: line)
    diagnostics = BroadcastSource(name: "\(name): diagnostics", fileID: fileID, line: line)
    hasClosed = TaskSource(name: "\(name): closing", fileID: fileID, line: line)
  }

  /// The number of the current connection, counted from 1, or 0 before the first.
  ///
  /// It is incremented before the subscriptions are made again.
  var connection: Int { connections.load(ordering: .acquiring) }

  func countConnection() -> Int {
    connections.add(1, ordering: .acquiringAndReleasing).newValue
  }

  /// A Boolean value that indicates whether it has ended permanently.
  var isClosed: Bool { state.withLock { if case .closed = $0.phase { true } else { false } } }

  var serverVersion: String? { state.withLock { $0.serverVersion } }

  /// The number of received messages that were dropped.
  var droppedCount: Int { dropped.load(ordering: .relaxed) }

  func countDropped(_ count: Int) { dropped.add(count, ordering: .relaxed) }

  /// The maximum length of a line that the server accepts.
  var lineLimit: Int { longestLine.load(ordering: .relaxed) }

  /// Halves the limit, after the server refused a line within it.
  func halveLineLimit() {
    longestLine.store(max(256, lineLimit / 2), ordering: .relaxed)
  }

  func report(_ diagnostic: NATSDiagnostic) {
    diagnosticsQueue.async { [diagnostics] in diagnostics.broadcast(diagnostic) }
  }

  func report(_ status: NATSStatus) {
    maintenance.async { [self] in isConnected.value = status == .connected }
    statusQueue.async { [self] in
      if case .closed = self.status.value { return }
      self.status.value = status
    }
  }

  /// Finishes all publishers of the connection, after the earlier reports.
  ///
  /// A callback that blocks delays its publisher, and the others for up to `drainTimeout`.
  func end(_ error: NATSError?) {
    let reports = DispatchGroup()
    DispatchQueue.global().async(group: reports) { [self] in
      inbox.failAll(error ?? .closed)
      services.cancelAll()
    }
    statusQueue.async(group: reports) { [self] in
      status.value = .closed(error)
      status.end()
    }
    diagnosticsQueue.async(group: reports) { [self] in diagnostics.end() }
    let hasClosed = hasClosed
    reports.notify(queue: .global()) { hasClosed.finish(.success(())) }
    let limit = Int(min(max(0, options.drainTimeout.inMilliseconds), 365 * 86_400_000))
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(limit)) {
      hasClosed.finish(.success(()))
    }
  }
}

extension ConnectionCore {
  /// Registers `hook`, which runs after each reconnect.
  ///
  /// It must not run callbacks of a subscriber.
  func onReturn(_ hook: @escaping @Sendable () -> Void) -> Int {
    state.withLock { state in
      state.lastHook += 1
      state.hooks[state.lastHook] = hook
      return state.lastHook
    }
  }

  func removeOnReturn(_ id: Int) {
    // Release outside the lock.
    _ = state.withLock { $0.hooks.removeValue(forKey: id) }
  }

  func runReconnectHooks() {
    let hooks = state.withLock { Array($0.hooks.values) }
    maintenance.async { for hook in hooks { hook() } }
  }
}
#endif
