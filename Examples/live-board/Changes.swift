import Foundation
import MiniRexFoundationAdapters

/// The changes in a directory since the start.
struct Changes: Encodable, Equatable, Sendable {
  struct Change: Encodable, Equatable, Sendable {
    let time = Date().timeIntervalSince1970
    let kind: String
    let name: String?
  }

  private(set) var count = 0
  private(set) var newestFirst: [Change] = []
  /// `false` after watching has failed, for example because the directory was removed.
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
