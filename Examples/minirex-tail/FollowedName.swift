/// A name on the command line, and the files that are read under it, one after the other.
final class FollowedName {
  enum Finding {
    case bytes(Int)
    case line(Line)
    case notice(Notice)
  }

  /// When it wants to be looked at next.
  enum Next { case atOnce, later, never }

  private let path: String
  /// Oldest first: the last one has the name now, the ones before it are read to their ends.
  private var files: [OpenFile] = []
  private var splitter = LineSplitter()
  /// What is wrong with the name, so that it is told once and not at each look.
  private var failure: SystemError?

  init(_ path: String) {
    self.path = path
  }

  /// Reads what is there, at most 4 MiB, so that the others have their turn too.
  func look(once: Bool, _ buffer: inout [UInt8], _ tell: (Finding) -> Void) -> Next {
    openNewest(once: once, tell)
    guard let file = files.first else { return once ? .never : .later }
    // A writer may keep to the old file until it has something for the new one. What it wrote to
    // the old one before that is there by now, and read below.
    let isAbandoned = files.count > 2 || files.count == 2 && files[1].size > 0
    do {
      for _ in 0..<16 {
        guard let chunk = try file.read(&buffer) else { return .atOnce }
        if chunk.isEmpty {
          return once || file.isStream ? .never : endOfFile(file, isAbandoned, tell)
        }
        tell(.bytes(chunk.count))
        splitter.split(chunk) { tell(.line($0)) }
      }
      return .atOnce
    } catch {
      report(error, tell)
      return once ? .never : .later
    }
  }

  /// Tells the line that has no newline yet, and closes what is open.
  func close(_ tell: (Finding) -> Void) {
    finish(tell)
    files = []
  }

  private func finish(_ tell: (Finding) -> Void) {
    splitter.finish { tell(.line($0)) }
  }

  private func openNewest(once: Bool, _ tell: (Finding) -> Void) {
    if let newest = files.last, once || !newest.isReplaced(at: path) { return }
    do {
      files.append(try OpenFile(path))
      failure = nil
    } catch {
      // Between two files of a name there may be none for a moment.
      if files.isEmpty || !error.isMissingFile { report(error, tell) }
    }
  }

  private func endOfFile(
    _ file: OpenFile, _ isAbandoned: Bool, _ tell: (Finding) -> Void
  ) -> Next {
    if file.isTruncated {
      finish(tell)
      file.rewind()
      tell(.notice(Notice(path: path, text: "file truncated")))
      return .atOnce
    }
    if !isAbandoned { return .later }
    finish(tell)
    files.removeFirst()
    tell(.notice(Notice(path: path, text: "file replaced")))
    return .atOnce
  }

  private func report(_ error: SystemError, _ tell: (Finding) -> Void) {
    if error == failure { return }
    failure = error
    tell(.notice(Notice(path: path, text: error.description, isFailure: true)))
  }
}
