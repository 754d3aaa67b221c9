/// How a connection behaves; every limit is here, with its default.
public struct NATSOptions: Sendable {
  /// What the server calls the connection, where it lists them.
  public var name: String?

  /// What lets you in.
  public var credentials: NATSCredentials = .none

  /// How the connection is made safe; `nil` leaves that to the scheme, `tls://` or `nats://`.
  public var tls: NATSTLS?

  /// How long one attempt to connect may take: 2 seconds.
  public var connectTimeout: Duration = .seconds(2)

  /// How long it waits before it tries again, after a loss or an attempt that failed: 250 milliseconds.
  public var reconnectWait: Duration = .milliseconds(250)

  /// By how much at most each wait is made longer by chance: 250 milliseconds.
  ///
  /// So clients that lost one server do not all come back at the same time.
  public var reconnectJitter: Duration = .milliseconds(250)

  /// How many attempts there are for each server before the connection is closed; `nil`, the
  /// default, for no end of them.
  ///
  /// Credentials that a server refuses are tried twice, whatever stands here.
  public var reconnectAttempts: Int?

  /// How often the server is asked if it is still there: each 20 seconds.
  ///
  /// A connection is lost when two of these have not been answered.
  public var pingInterval: Duration = .seconds(20)

  /// How many bytes may wait to be sent: 8 MiB.
  ///
  /// They wait while there is no connection, or the server does not read; what is published beyond
  /// fails with ``NATSError/sendLimitReached``.
  public var sendLimit = 8 << 20

  /// How many messages may wait for the callbacks of a subscription: 65,536.
  ///
  /// What comes while so many wait is dropped, and told on ``NATSConnection/troubles``. Of a stream
  /// no more than half as many are on their way at a time, so that none is dropped.
  public var receiveLimit = 65_536

  /// How many bytes may wait for the callbacks of a subscription: 64 MiB.
  public var receiveLimitInBytes = 64 << 20

  /// If each subscription has a thread of its own, on which it calls; false.
  ///
  /// Otherwise the threads of a pool, as many as there are processors but at least four in the whole
  /// process, call for all subscriptions: a callback that blocks holds up those that share its
  /// thread.
  public var callsOnOwnThreads = false

  /// How many requests may be answered at a time over the connection: 10,000.
  public var requestLimit = 10_000

  /// How often whoever answers asks if somebody still waits for it: each second.
  ///
  /// So work is cancelled, within twice this time, for a process that has been killed.
  public var probeInterval: Duration = .seconds(1)

  /// How long ``NATSConnection/close()`` waits for what is to be delivered, and then as long at most for
  /// what is to be sent: 10 seconds.
  public var drainTimeout: Duration = .seconds(10)

  /// Makes options with their defaults.
  public init() {}
}
