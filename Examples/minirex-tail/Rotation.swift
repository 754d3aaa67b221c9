import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// The files that had a name, each opened as soon as the system reports it.
///
/// Files are opened on the thread that reports changes, so that a slow read loses no file.
final class Rotation: Sendable {
  private struct State {
    /// Oldest first.
    ///
    /// The last file had the name at the last check.
    var files: [OpenFile] = []
    /// The identity and size of the file numbered 1 at the last check, which had the name earlier.
    var numbered: ([UInt64], Int) = ([], 0)
    var folders: [Subscription] = []
    /// A Boolean value that indicates whether the path may lead through other folders.
    var isElsewhere = true
  }

  private let path: String
  private let tail: Tail
  // Use `Mutex` in your programs. ThreadSanitizer does not support it, so this repository uses
  // `Lock`.
  private let state = Lock(State())

  init(_ path: String, tail: Tail) {
    self.path = path
    self.tail = tail
  }

  /// The file to read next.
  var oldest: OpenFile? { state.withLock(\.files.first) }

  /// A Boolean value that indicates whether the oldest file is complete.
  ///
  /// A writer may continue in the old file until the next file has content.
  var isOldestLeft: Bool {
    state.withLock { $0.files.count > 2 || $0.files.count == 2 && $0.files[1].size > 0 }
  }

  func removeOldest() {
    _ = state.withLock { $0.files.removeFirst() }
  }

  /// Opens a pipe again, for its next writers.
  func reopen() {
    state.withLock { $0.files += OpenFile(path).map { [$0] } ?? [] }
  }

  /// Returns the bytes after a place in a copy that was made before the truncation.
  func copy(after place: Place) -> Data? {
    place.offset > 0 ? try? OpenFile("\(path).1")?.bytes(after: place) : nil
  }

  /// Opens new files, and sends hints for later changes.
  func follow() -> POSIXError? {
    if state.withLock({ $0.isElsewhere }) { watchFolders() }
    defer {
      for file in state.withLock(\.files) { file.watch(tail) }
    }
    return look()
  }

  func close() {
    let folders = state.withLock { state in
      defer { state = State() }
      return state.folders
    }
    for folder in folders { folder.invalidate() }
  }

  /// Opens the file that has the name now, and the files that had it since the last check.
  @discardableResult private func look() -> POSIXError? {
    // One thread at a time, so that the files stay in order.
    state.withLock { state in
      while state.files.last?.has(path) != true {
        guard let newest = OpenFile(path) else { return errno == ENOENT ? .missing : .last }
        let between = filesSince(state)
        state.numbered = OpenFile("\(path).1").map { ($0.identity, $0.size) } ?? ([], 0)
        // If the newest file has lost the name already, the order of the older files is unknown.
        state.files += newest.has(path) ? between + [newest] : [newest]
      }
      return nil
    }
  }

  /// Returns the files that were numbered since the last check.
  ///
  /// A higher number is older.
  private func filesSince(_ state: State) -> [OpenFile] {
    if state.files.isEmpty { return [] }
    var files: [OpenFile] = []
    while let file = OpenFile("\(path).\(files.count + 1)"), file.isRegular,
      !state.files.contains(where: { $0.identity == file.identity }),
      (file.identity, file.size) != state.numbered
    {
      files.append(file)
    }
    return files.reversed()
  }

  /// Watches all folders on the path, and on the paths of its symbolic links.
  private func watchFolders() {
    state.withLock { $0.isElsewhere = false }
    var folders: [Subscription] = []
    var next: URL? = URL(filePath: path).absoluteURL
    while let url = next, folders.count < 400 {
      var folder = URL(filePath: "/")
      // From the root down, so that a folder that appears during the loop is noticed.
      for name in url.pathComponents.dropFirst() {
        folders.append(watch(folder, for: name))
        folder.append(path: name)
      }
      let link = try? FileManager.default.destinationOfSymbolicLink(atPath: url.path)
      next = link.map { URL(filePath: $0, relativeTo: url).absoluteURL }
    }
    // Cancel the earlier subscriptions afterward, so that no folder is unwatched for a moment.
    state.withLock { swap(&$0.folders, &folders) }
    for folder in folders { folder.invalidate() }
  }

  private func watch(_ folder: URL, for name: String) -> Subscription {
    folder.changes().subscribe { [self] change in
      switch change {
      case .success(let change) where change.name == name || change.name == nil:
        if change.kind != .written {
          state.withLock { $0.isElsewhere = true }
          // Reading reports the error.
          look()
        }
        tail.hint()
      // A missing or unreadable folder has a parent that is watched.
      case .failure(let error) where ![.ENOENT, .ENOTDIR, .EACCES].contains(error.code):
        tail.report(
          "\(folder.path) cannot be watched: \(error.localizedDescription)", isFailure: true)
      default: break
      }
    }
  }
}
