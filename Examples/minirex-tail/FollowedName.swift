import Foundation
import MiniRex

/// A name on the command line, and the files that are read under it, one after the other.
@MainActor final class FollowedName {
  private let path: String
  /// Oldest first: the last one has the name now, the ones before it are read to their ends.
  private var files: [OpenFile] = []
  private var folders: [Subscription] = []
  /// What is wrong with the name, so that it is told once and not at each look.
  private var failure: String?

  init(_ path: String) {
    self.path = path
  }

  /// Reads what is there; unless that is all, the next hint tells when there may be more.
  func look(once: Bool) async throws {
    if files.last?.has(path) != true, !once || files.isEmpty { openNewest(once: once) }
    while let file = files.first {
      // A writer may keep to the old file until it has something for the new one. What it wrote to
      // the old one before that is there by now, and read below.
      let isAbandoned = files.count > 2 || files.count == 2 && files[1].size > 0
      do {
        if file.isTruncated {
          file.finish()
          tell("file truncated")
        }
        try await file.read()
      } catch  where !(error is CancellationError) {
        report(error)
      }
      if !isAbandoned { return }
      file.finish()
      files.removeFirst()
      tell("file replaced")
    }
  }

  /// False before the first reading is over.
  var isBegun: Bool { files.first?.isBegun == true }

  func close() {
    for file in files { file.finish() }
    files = []
  }

  private func openNewest(once: Bool) {
    if !once { watchFolders() }
    do {
      let file = try OpenFile(path)
      if !once { file.follow() }
      files.append(file)
      failure = nil
    } catch {
      // Between two files of a name there may be none for a moment.
      if files.isEmpty || error.code != .ENOENT { report(error) }
    }
  }

  /// Watches the folder of the name, and of what a symbolic link leads to.
  private func watchFolders() {
    folders = []
    var next: URL? = URL(filePath: path).absoluteURL
    while let url = next, folders.count < 40 {
      if let folder = watchFolder(of: url) { folders.append(folder) }
      let link = try? FileManager.default.destinationOfSymbolicLink(atPath: url.path)
      next = link.map { URL(filePath: $0, relativeTo: url).absoluteURL }
    }
  }

  /// Watches the folder or, while that is missing, the nearest one above it.
  private func watchFolder(of url: URL) -> Subscription? {
    var folder = URL(filePath: "/")
    var nearest: Subscription?
    // From the root down, so that what comes meanwhile is seen.
    for name in url.pathComponents.dropFirst() {
      let watching = watch(folder, for: name)
      if watching.isSubscribed { nearest = watching }
      folder.append(path: name)
    }
    return nearest
  }

  private func report(_ error: any Error) {
    if error.localizedDescription != failure {
      tell(error.localizedDescription, isFailure: true)
    }
    failure = error.localizedDescription
  }

  private func tell(_ text: String, isFailure: Bool = false) {
    notices.broadcast(("\(path): \(text)", isFailure))
  }
}
