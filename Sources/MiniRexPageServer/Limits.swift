/// The resources that one browser, or all browsers together, may use.
public struct Limits: Sendable {
  /// The maximum number of connections.
  ///
  /// Further browsers receive 503.
  public var connections = 256
  /// The maximum size of a request's head in bytes, including its empty line.
  public var head = 8 << 10
  /// The maximum size of a request's body in bytes.
  public var body = 64 << 10
  /// The time limit for receiving a request, and then for the browser to disconnect after its
  /// response, together.
  public var requestTime = Duration.seconds(10)
  /// The time without reading after which the server closes a browser's connection.
  public var unreadTime = Duration.seconds(30)
  /// The maximum number of queued events for a browser that may not miss any.
  public var events = 64
  /// The size of the system's send buffer for each connection, in bytes.
  ///
  /// A slow browser receives the buffer's content before any newer event.
  public var buffer: Int32 = 32 << 10

  /// Creates the default limits.
  public init() {}

  /// The time for a browser to disconnect whose request took a time.
  func patience(afterRequest time: Duration) -> Duration { max(.zero, requestTime - time) }
}
