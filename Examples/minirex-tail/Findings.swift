import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// What there is to tell while files are read.
struct Findings: Sendable {
  let pieces = BroadcastSource<Piece>(name: "pieces")
  let notices = BroadcastSource<Notice>(name: "notices")
  /// Calls when there may be something to read.
  let hints = BroadcastSource<Void>(name: "hints")

  /// Hints at changes of a file, or at those in a folder of what has the name.
  func watch(_ url: URL, name: String? = nil) -> Subscription {
    url.changes().subscribe { change in
      switch change {
      case .success(let change):
        if change.name == name || change.name == nil { hints.broadcast(()) }
      case .failure(let error):
        // A folder that is missing, or is not ours to see, has one above it that is watched.
        if [.ENOENT, .ENOTDIR, .EACCES].contains(error.code) { return }
        notices.broadcast(Notice(url.path, "cannot be watched: \(error.reason)", isFailure: true))
      }
    }
  }
}

/// Something to say about a file.
struct Notice: Sendable {
  let text: String
  let isFailure: Bool

  init(_ path: String, _ text: String, isFailure: Bool = false) {
    self.text = "minirex-tail: \(path): \(text)"
    self.isFailure = isFailure
  }
}

extension POSIXError {
  static var last: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

  var reason: String { unsafe String(cString: strerror(code.rawValue)) }
}

struct Piece: Sendable {
  let lines: [Line]
  let byteCount: Int
}
