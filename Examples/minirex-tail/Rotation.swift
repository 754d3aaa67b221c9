import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// The files that have a name, one after the other, each open as soon as it is heard of.
///
/// They are opened where changes are told, not where files are read: that may take as long as it
/// likes, and nothing is lost of what is open.
final class Rotation: Sendable {
  private struct State {
    /// Oldest first; the last one had the name at the last look.
    var files: [OpenFile] = []
    /// What had the number 1 then, and its size: a file that had had the name before.
    var numbered: ([UInt64], Int) = ([], 0)
    var folders: [Subscription] = []
    /// True if the way to the name may lead through other folders than those.
    var isElsewhere = true
  }

  private let path: String
  private let tail: Tail
  // A `Mutex` elsewhere; this one ThreadSanitizer sees.
  private let state = Lock(State())

  init(_ path: String, tail: Tail) {
    self.path = path
    self.tail = tail
  }

  /// The one to be read.
  var oldest: OpenFile? { state.withLock(\.files.first) }

  /// True if nothing more is to be expected in the oldest one than there is.
  ///
  /// A writer may keep to it until it has something for the next one.
  var isOldestLeft: Bool {
    state.withLock { $0.files.count > 2 || $0.files.count == 2 && $0.files[1].size > 0 }
  }

  func removeOldest() {
    _ = state.withLock { $0.files.removeFirst() }
  }

  /// Opens a pipe once more, for those who write to it next.
  func reopen() {
    state.withLock { $0.files += OpenFile(path).map { [$0] } ?? [] }
  }

  /// What a copy of the file has after the place, if one was made before the file was truncated.
  func copy(after place: Place) -> Data? {
    place.offset > 0 ? try? OpenFile("\(path).1")?.bytes(after: place) : nil
  }

  /// Looks, and hints from now on at what changes.
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

  /// Opens the file that has the name, unless it is open, and those that have had it since.
  @discardableResult private func look() -> POSIXError? {
    // One at a time, so that they stay in their order.
    state.withLock { state in
      while state.files.last?.has(path) != true {
        guard let newest = OpenFile(path) else { return errno == ENOENT ? .missing : .last }
        let between = filesSince(state)
        state.numbered = OpenFile("\(path).1").map { ($0.identity, $0.size) } ?? ([], 0)
        // If it has lost the name meanwhile, nobody knows which of them came first.
        state.files += newest.has(path) ? between + [newest] : [newest]
      }
      return nil
    }
  }

  /// Those that have got a number since the last look: the higher it is, the older they are.
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

  /// Watches all folders on the way to the name, and to what a symbolic link there leads to.
  private func watchFolders() {
    state.withLock { $0.isElsewhere = false }
    var folders: [Subscription] = []
    var next: URL? = URL(filePath: path).absoluteURL
    while let url = next, folders.count < 400 {
      var folder = URL(filePath: "/")
      // From the root down, so that what comes meanwhile is seen.
      for name in url.pathComponents.dropFirst() {
        folders.append(watch(folder, for: name))
        folder.append(path: name)
      }
      let link = try? FileManager.default.destinationOfSymbolicLink(atPath: url.path)
      next = link.map { URL(filePath: $0, relativeTo: url).absoluteURL }
    }
    // The ones before end after that, so that nothing is unwatched for a moment.
    state.withLock { swap(&$0.folders, &folders) }
    for folder in folders { folder.invalidate() }
  }

  private func watch(_ folder: URL, for name: String) -> Subscription {
    folder.changes().subscribe { [self] change in
      switch change {
      case .success(let change) where change.name == name || change.name == nil:
        if change.kind != .written {
          state.withLock { $0.isElsewhere = true }
          // What is wrong is told when it is to be read.
          look()
        }
        tail.hint()
      // What is missing, or not ours to see, has a folder above it that is watched.
      case .failure(let error) where ![.ENOENT, .ENOTDIR, .EACCES].contains(error.code):
        tail.tell(
          "\(folder.path) cannot be watched: \(error.localizedDescription)", isFailure: true)
      default: break
      }
    }
  }
}
