import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// What is read, as it comes.
let pieces = BroadcastSource<Piece>(name: "pieces")
let notices = BroadcastSource<(text: String, isFailure: Bool)>(name: "notices")
/// Calls when there may be something to read.
let hints = BroadcastSource<Void>(name: "hints")

/// Hints at changes of a file, or at those in a folder of what has the name.
func watch(_ url: URL, for name: String? = nil) -> Subscription {
  url.changes().subscribe { change in
    switch change {
    case .success(let change):
      if change.name == name || change.name == nil { hints.broadcast(()) }
    case .failure(let error):
      // What is missing, or not ours to see, has a folder above it that is watched.
      if [.ENOENT, .ENOTDIR, .EACCES].contains(error.code) { return }
      notices.broadcast(("\(url.path) cannot be watched: \(error.localizedDescription)", true))
    }
  }
}
