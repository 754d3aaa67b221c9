/// The resources that one browser, or all browsers together, may use.
package struct Limits: Sendable {
  /// The maximum number of connections.
  ///
  /// Further browsers receive 503.
  package var connections = 256
  /// The maximum size of a request's head in bytes, including its empty line.
  package var head = 8 << 10
  /// The maximum size of a request's body in bytes.
  package var body = 64 << 10
  /// The time limit for receiving a request, and then for the browser to disconnect after its
  /// response, together.
  package var requestTime = Duration.seconds(10)
  /// The time without reading after which the server closes a browser's connection.
  package var unreadTime = Duration.seconds(30)
  /// The maximum number of queued events for a browser that may not miss any.
  package var events = 64
  /// The size of the system's send buffer for each connection, in bytes.
  ///
  /// A slow browser receives the buffer's content before any newer event.
  package var buffer: Int32 = 32 << 10

  package init() {}

  /// The time for a browser to disconnect whose request took a time.
  func patience(afterRequest time: Duration) -> Duration { max(.zero, requestTime - time) }
}
