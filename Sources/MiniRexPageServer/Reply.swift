public import Foundation
public import MiniRex

/// The answer to a request.
public enum Reply: Sendable {
  /// A status, with an optional explanation for people.
  case status(Status, because: String = "")
  case content(_ type: String, Data)
  /// HTML whose inline scripts and styles have the attribute `nonce="NONCE"`.
  ///
  /// Each response replaces `NONCE` with a new nonce. The browser runs no script without it.
  case page(Data)
  /// Server-sent events, until the broadcaster finishes or the browser disconnects.
  ///
  /// Each update is a complete event, with its `data:` lines and its empty line.
  case events(Broadcaster<Data>, SlowBrowser)

  /// The treatment of a browser that is slower than the events.
  public enum SlowBrowser: Sendable {
    /// Drops all but the newest event until the browser is ready.
    ///
    /// For events that contain the entire state.
    case missesEvents
    /// Closes the connection, so that the browser reconnects and starts again.
    ///
    /// For events that build on the previous event.
    case beginsAnew
    /// Takes the next event when the browser has received the previous event.
    ///
    /// For a broadcaster that can wait, such as a broadcaster of an async sequence.
    case delaysEvents
  }
}

/// An HTTP status code and its phrase.
public struct Status: Error, Sendable, Equatable {
  /// The code and the phrase.
  public let line: String
  /// An explanation for people.
  var reason = ""

  /// The request succeeded.
  public static let ok = Status(line: "200 OK")
  /// The request succeeded, and has no content.
  public static let noContent = Status(line: "204 No Content")
  /// The request is malformed.
  public static let badRequest = Status(line: "400 Bad Request")
  /// The server refuses the request.
  public static let forbidden = Status(line: "403 Forbidden")
  static let tokenRequired = Status(
    line: forbidden.line, reason: "Open the page with its token.")
  /// The path is unknown.
  public static let notFound = Status(line: "404 Not Found")
  /// The path does not allow the method.
  public static let notAllowed = Status(line: "405 Method Not Allowed")
  /// The request conflicts with the present state.
  public static let conflict = Status(line: "409 Conflict")
  /// The server cannot answer now.
  public static let unavailable = Status(line: "503 Service Unavailable")
  /// The request took too long.
  public static let timeout = Status(line: "408 Request Timeout")
  static let bodyTooLarge = Status(line: "413 Content Too Large")
  static let headTooLarge = Status(line: "431 Request Header Fields Too Large")
  static let notImplemented = Status(line: "501 Not Implemented")
}
