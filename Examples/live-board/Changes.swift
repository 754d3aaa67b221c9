import Foundation
import MiniRexFoundationAdapters

/// What has happened in a directory so far.
struct Changes: Encodable, Equatable, Sendable {
  struct Change: Encodable, Equatable, Sendable {
    let time = Date().timeIntervalSince1970
    let kind: String
    let name: String?
  }

  private(set) var count = 0
  private(set) var newestFirst: [Change] = []
  /// False once it cannot be watched any more, because it is gone, for example.
  private(set) var isWatched = true

  func adding(_ result: Result<FileChange, POSIXError>) -> Changes {
    var changes = self
    switch result {
    case .success(let change):
      changes.count += 1
      changes.newestFirst =
        [Change(kind: "\(change.kind)", name: change.name)] + newestFirst.prefix(9)
    case .failure: changes.isWatched = false
    }
    return changes
  }
}
