import Foundation
import MiniRex

/// A name on the command line, and the files that are read under it, one after the other.
@MainActor final class FollowedName {
  private let path: String
  private let findings: Findings
  /// Oldest first: the last one has the name now, the ones before it are read to their ends.
  private var files: [OpenFile] = []
  private var folders: [Subscription] = []
  /// What is wrong with the name, so that it is told once and not at each look.
  private var failure: POSIXError.Code?

  init(_ path: String, _ findings: Findings) {
    self.path = path
    self.findings = findings
  }

  /// Reads what is there, and asks for a hint when there may be more.
  func look(once: Bool) async throws {
    if !once { openNewest() } else if files.isEmpty { open() }
    while let file = files.first {
      // A writer may keep to the old file until it has something for the new one. What it wrote to
      // the old one before that is there by now, and read below.
      let isAbandoned = files.count > 2 || files.count == 2 && !files[1].isEmpty
      do {
        if file.isTruncated {
          file.finish(findings)
          findings.notices.broadcast(Notice(path, "file truncated"))
        }
        try await file.read(findings)
      } catch let error as POSIXError {
        report(error)
      }
      if !isAbandoned { return }
      file.finish(findings)
      files.removeFirst()
      findings.notices.broadcast(Notice(path, "file replaced"))
    }
  }

  /// Tells the last line also if it has no newline, and closes what is open.
  func close() {
    for file in files { file.finish(findings) }
    files = []
  }

  private func openNewest() {
    if files.last?.isNamed(path) == true { return }
    // Also the folder of what a symbolic link leads to.
    let url = URL(filePath: path).standardizedFileURL
    folders = Set([url, url.resolvingSymlinksInPath()]).compactMap(watchFolder)
    open()
    files.last?.follow(findings)
  }

  /// Watches the folder or, while that is missing, the nearest one above it. From the root down, so
  /// that what comes meanwhile is seen.
  private func watchFolder(of url: URL) -> Subscription? {
    var folder = URL(filePath: "/")
    var nearest: Subscription?
    for name in url.pathComponents.dropFirst() {
      let watch = findings.watch(folder, name: name)
      if watch.isSubscribed { nearest = watch }
      folder.append(path: name)
    }
    return nearest
  }

  private func open() {
    do {
      files.append(try OpenFile(path))
      failure = nil
    } catch {
      // Between two files of a name there may be none for a moment.
      if files.isEmpty || error.code != .ENOENT { report(error) }
    }
  }

  private func report(_ error: POSIXError) {
    if error.code == failure { return }
    failure = error.code
    findings.notices.broadcast(Notice(path, error.reason, isFailure: true))
  }
}
