import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// The comments below a folder, and all its subfolders.
struct Findings: Sendable, Equatable, Codable {
  var comments: [Comment] = []
  var folders: [String] = []
}

extension Outside {
  /// - Parameter journal: A file to skip, because the journal contains the comments.
  init(_ directory: URL, except journal: URL?, clock: some Clock<Duration>) {
    // Each search runs on its own queue, so that no request and no timer waits for it.
    let queue = DispatchQueue(label: "search")
    let progress = PublishedProperty<Int?>(nil, name: "searched files")
    self.progress = progress.publisher
    findings = { folders in
      // Editors write a file in several steps, and logs change continuously, so changes within 100 ms
      // cause one search. The folders are followed before the first search.
      let changes = folders.map { URL(filePath: $0).changes().map { _ in } }
      return merge(changes + [.sequence([()])])
        .chunked(every: .milliseconds(100), clock: clock)
        .receive(on: queue, buffering: .bufferingNewest(1))
        .map { _ in
          defer { progress.value = nil }
          var search = Search(directory.path, except: journal?.path) { progress.value = $0 }
          return search.findings()
        }
        .removeDuplicates()
    }
  }
}
