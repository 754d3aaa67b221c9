#if NATS
/// The limits, intervals, and credentials of a connection.
public struct NATSOptions: Sendable {
  /// The name of the connection in the server's lists.
  public var name: String?

  /// The credentials.
  ///
  /// The default is `.none`.
  public var credentials: NATSCredentials = .none

  /// The TLS configuration, or `nil`, the default, to follow the scheme, `tls://` or `nats://`.
  public var tls: NATSTLS?

  /// The timeout of one attempt to connect.
  ///
  /// The default is 2 seconds.
  ///
  /// It bounds each stage: the connection, the first line of the server, the TLS handshake, and the
  /// server's answer to the credentials. ``NATSConnection/close()`` ends an attempt immediately. Only
  /// a lookup of a host name takes as long as the system's resolver allows.
  public var connectTimeout: Duration = .seconds(2)

  /// The wait before the next attempt, after a loss or a failed attempt.
  ///
  /// The default is 250 milliseconds.
  public var reconnectWait: Duration = .milliseconds(250)

  /// The maximum random addition to each wait.
  ///
  /// The default is 250 milliseconds.
  ///
  /// It prevents the clients of a lost server from reconnecting at the same moment.
  public var reconnectJitter: Duration = .milliseconds(250)

  /// The number of attempts for each server before the connection closes, or `nil`, the default,
  /// for no limit.
  ///
  /// Credentials that a server rejects are tried twice in any case.
  public var reconnectAttempts: Int?

  /// The interval between pings of the server.
  ///
  /// The default is 5 seconds.
  ///
  /// Two unanswered pings mean that the connection is lost.
  public var pingInterval: Duration = .seconds(5)

  /// The maximum length of a line sent to the server, in bytes.
  ///
  /// The default is 4,096.
  ///
  /// It is the `max_control_line` of the server, which closes the connection after a longer line.
  /// 64 bytes are reserved: a subject with its reply subject or queue group fails with
  /// ``NATSError/subjectTooLong(_:)`` beyond the rest. When a server closes the connection for this
  /// reason, the connection halves its limit.
  public var lineLimit = 4_096

  /// The maximum number of bytes queued for the server.
  ///
  /// The default is 8 MiB.
  ///
  /// Messages are queued while there is no connection, or while the server does not read. Beyond
  /// the limit, publishing fails with ``NATSError/sendLimitReached``.
  public var sendLimit = 8 << 20

  /// The maximum number of messages queued for the callbacks of a subscription.
  ///
  /// The default is 65,536.
  ///
  /// Further messages are dropped and reported on ``NATSConnection/diagnostics``. A stream has at
  /// most half of this number in flight, so its messages are never dropped.
  public var receiveLimit = 65_536

  /// The maximum number of bytes queued for the callbacks of a subscription.
  ///
  /// The default is 64 MiB.
  public var receiveLimitInBytes = 64 << 20

  /// A Boolean value that indicates whether each subscription delivers on its own thread.
  ///
  /// The default is `false`.
  ///
  /// Without it, the subscriptions of the process share a pool of 64 threads in turn, each started
  /// when it is needed. A callback that blocks delays the subscriptions on its thread: of the later
  /// ones, every 64th. A callback of a request's answer delays the requests that are made in its first
  /// 10 milliseconds.
  public var usesDedicatedThreads = false

  /// The maximum number of requests that the connection answers concurrently.
  ///
  /// The default is 10,000.
  ///
  /// Further requests are queued up to ``receiveLimit`` and ``receiveLimitInBytes``. A request
  /// beyond these is refused with the code 503.
  public var requestLimit = 10_000

  /// The interval at which an answering process checks that its requesters still exist.
  ///
  /// The default is 1 second.
  ///
  /// Work for a process that stopped is canceled within twice this interval.
  public var probeInterval: Duration = .seconds(1)

  /// The maximum time that ``NATSConnection/close()`` waits for deliveries, and then for sends.
  ///
  /// The default is 10 seconds each.
  public var drainTimeout: Duration = .seconds(10)

  /// The JetStream domain of the streams and buckets, for a server behind a leaf node.
  ///
  /// The default is `nil`: the domain of the connected server. A domain with a dot, a space, or
  /// a wildcard closes the connection with ``NATSError/invalidOptions(_:)``.
  public var jetStreamDomain: String?

  /// The first part of the subjects that replies and stream messages arrive on.
  ///
  /// The default is `_INBOX`. A private prefix lets the server's permissions separate clients. A prefix
  /// that is not a subject closes the connection with ``NATSError/invalidOptions(_:)``.
  public var inboxPrefix = "_INBOX"

  /// The transport of a context, such as a trace, in the headers of messages.
  ///
  /// The default is `nil`, for none. ``NATSPropagation/w3c`` transports a ``TraceContext``.
  public var propagation: NATSPropagation?

  /// Creates options with their defaults.
  public init() {}
}
#endif
