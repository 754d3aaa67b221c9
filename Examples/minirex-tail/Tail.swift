import MiniRex

/// How much has been read.
struct Look: Sendable {
  var lines = 0
  var bytes = 0
}

/// Something to tell about a file.
struct Notice: Sendable {
  let path: String
  let text: String
  var isFailure = false
}

/// Looks at files again and again, and broadcasts what it finds.
///
/// A file is read from its beginning, and followed by its name like `tail -F` does.
final class Tail {
  /// Calls with each line; one over 1 MiB comes in pieces.
  let lines = BroadcastSource<Line>(name: "lines")
  /// Calls after the lines of each look.
  let looks = BroadcastSource<Look>(name: "looks")
  let notices = BroadcastSource<Notice>(name: "notices")

  private let options: Options
  private var names: [FollowedName]
  private var buffer = [UInt8](repeating: 0, count: 1 << 18)
  private var total = Look()

  init(_ options: Options) {
    self.options = options
    names = options.files.map(FollowedName.init)
  }

  /// Returns when there is nothing left to wait for, or its task has been cancelled.
  func run() async {
    while !Task.isCancelled {
      let isBusy = look()
      if names.isEmpty { break }
      if !isBusy { try? await Task.sleep(for: options.interval) }
    }
    // What was written before the cancellation is still read, if it is not endless.
    for _ in 0..<4 where !names.isEmpty && look() {}
    for name in names { name.close(tell) }
    looks.broadcast(total)
  }

  /// After the last look.
  func end() {
    lines.end()
    looks.end()
    notices.end()
  }

  /// - Returns: True if the next look should follow at once.
  @discardableResult
  private func look() -> Bool {
    var isBusy = false
    names.removeAll { name in
      // One file after the other, if they have an end.
      if isBusy, options.isOnce { return false }
      let next = name.look(once: options.isOnce, &buffer, tell)
      if next == .atOnce { isBusy = true }
      // Now, not when the names are through: there may be more of them than files can be open.
      if next == .never { name.close(tell) }
      return next == .never
    }
    looks.broadcast(total)
    return isBusy
  }

  private func tell(_ finding: FollowedName.Finding) {
    switch finding {
    case .bytes(let count): total.bytes += count
    case .line(let line):
      total.lines += 1
      lines.broadcast(line)
    case .notice(let notice): notices.broadcast(notice)
    }
  }
}
