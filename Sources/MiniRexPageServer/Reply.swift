package import Foundation
package import MiniRex

/// What a browser gets.
package enum Reply: Sendable {
  /// A number and what it means, with more words for whoever reads them.
  case status(Status, because: String = "")
  case content(_ type: String, Data)
  /// Server-sent events, each with its `data:` and its empty line, until they end or nobody reads them.
  case events(Broadcaster<Data>, SlowBrowser)

  /// What becomes of a browser that is slower than the events.
  package enum SlowBrowser: Sendable {
    /// It gets the newest when it is ready: each event tells everything.
    case missesEvents
    /// Its connection ends, so that it comes back and begins anew: each event follows from the last.
    case beginsAnew
  }
}

/// A number and what it means.
package struct Status: Error, Sendable, Equatable {
  package let line: String

  package static let noContent = Status(line: "204 No Content")
  package static let badRequest = Status(line: "400 Bad Request")
  package static let forbidden = Status(line: "403 Forbidden")
  package static let notFound = Status(line: "404 Not Found")
  package static let notAllowed = Status(line: "405 Method Not Allowed")
  package static let timeout = Status(line: "408 Request Timeout")
  package static let conflict = Status(line: "409 Conflict")
  static let bodyTooLarge = Status(line: "413 Content Too Large")
  static let headTooLarge = Status(line: "431 Request Header Fields Too Large")
  static let notImplemented = Status(line: "501 Not Implemented")
  static let busy = Status(line: "503 Service Unavailable")
}
