/// What one browser, or all of them together, may take of a server.
package struct Limits: Sendable {
  /// How many browsers are served at a time; others are told to come back.
  package var connections = 256
  /// How long the head of a request may be, in bytes.
  package var head = 8 << 10
  /// How long the body of a request may be, in bytes.
  package var body = 64 << 10
  /// How long a request may take to come, and the browser to leave after the answer.
  package var requestTime = Duration.seconds(10)
  /// How long what is sent may stay unread, before the browser is taken for gone.
  package var unreadTime = Duration.seconds(30)
  /// How many events wait for a browser that may miss none, before it has to begin anew.
  package var events = 64
  /// What the system keeps for a slow browser, in bytes, which cannot be replaced by something newer.
  package var buffer: Int32 = 32 << 10

  package init() {}
}
