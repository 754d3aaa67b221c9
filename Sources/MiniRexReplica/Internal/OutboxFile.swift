internal import MiniRex
internal import MiniRexJournal

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A failed system call on the file of the pending actions.
struct OutboxFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  init(failed operation: String, _ code: Int32 = errno) {
    description = "\(operation): \(unsafe String(cString: strerror(code)))"
  }
}

/// The pending actions of one origin, in a file that belongs to one process.
///
/// Each line has a checksum: `89abcdef 7 {…}` is the action with the number 7, `89abcdef = 7` records that all
/// actions up to 7 are decided, and `89abcdef ORIGIN NAME` is the first line. A last line that never reached the
/// disk is removed. Any other unreadable line is a failure: the actions behind it may be in the log, so their
/// numbers must not be used again. The send side calls `append` with exclusive access, and the queue calls `settle`.
final class OutboxFile: Sendable {
  private struct State: Sendable {
    var descriptor: Int32
    var size: off_t
    /// The number of settled actions since the last compaction.
    var settledLines = 0
    var settled: Int
    /// The number of the last action in the file.
    var last: Int
    var lines: [(number: Int, line: Data)]
    /// The numbers of the last action of each entry that was sent first at a Unix second.
    var marks: [(number: Int, second: Int)]
  }

  let origin: String
  /// The number of the next action.
  let next: Int
  /// The pending actions when the file was opened.
  let restored: [(number: Int, line: Data)]
  private let path: String
  private let state: Lock<State>

  /// Opens or creates the file in a folder.
  init(in folder: String) throws {
    path = folder + "/outbox"
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
    if descriptor < 0 { throw OutboxFailure(failed: "open \(path)") }
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      close(descriptor)
      throw OutboxFailure("\(path) belongs to another replica")
    }
    let content: OutboxContent
    let bytes: [UInt8]
    do {
      bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
      content = try OutboxContent(bytes)
    } catch {
      close(descriptor)
      throw error
    }
    if content.size < bytes.count { ftruncate(descriptor, off_t(content.size)) }
    origin = content.origin ?? UUID().uuidString
    next = content.next
    restored = content.lines
    state = Lock(
      State(
        descriptor: descriptor, size: off_t(content.size), settled: content.settled,
        last: content.next - 1, lines: content.lines, marks: content.marks))
    if content.origin == nil {
      try state.withLock { try write(OutboxContent.line("ORIGIN \(origin)"), &$0) }
    }
    synchronizeFolder()
  }

  /// Makes all earlier lines durable, and returns the number of the last action in them.
  ///
  /// It waits for the disk outside the lock, so other threads append lines concurrently.
  func synchronize(with synchronize: @Sendable (Int32) -> Int32) throws -> Int {
    let (descriptor, number) = state.withLock {
      ($0.descriptor < 0 ? -1 : dup($0.descriptor), $0.last)
    }
    if descriptor < 0 { throw OutboxFailure(failed: "dup") }
    defer { close(descriptor) }
    if synchronize(descriptor) != 0 { throw OutboxFailure(failed: "fdatasync") }
    return number
  }

  /// Makes the name of the file durable.
  ///
  /// Without it, a power failure could restore an earlier file with this name.
  private func synchronizeFolder() {
    let folder = String(path.dropLast("/outbox".count))
    let descriptor = unsafe open(folder, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return }
    fsync(descriptor)
    close(descriptor)
  }

  deinit { release() }

  /// Closes the file, which fails further writes.
  func release() {
    let descriptor = state.withLock { state in
      defer { state.descriptor = -1 }
      return state.descriptor
    }
    if descriptor < 0 { return }
    // A process that is being started has a copy of the descriptor, which would keep the lock.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  func append(_ line: Data, number: Int) throws {
    // In one step, because a compaction keeps only the lines that it knows.
    try state.withLock { state in
      try write(OutboxContent.line("\(number) ", line), &state)
      state.lines.append((number, line))
      state.last = number
    }
  }

  /// Records that the actions up to a number were sent, unless that is known.
  ///
  /// The line precedes the send. Without it, the actions would be sent again after the log has forgotten them.
  func mark(sent number: Int, at second: Int) {
    state.withLock { state in
      if state.marks.last?.number ?? state.settled >= number { return }
      try? write(OutboxContent.line("> \(number) \(second)"), &state)
      state.marks.append((number, second))
    }
  }

  /// Returns the Unix second at which an action was sent first, or `nil`.
  func sentAt(_ number: Int) -> Int? {
    state.withLock { $0.marks.first { $0.number >= number }?.second }
  }

  /// Records that all actions up to a number are decided.
  ///
  /// A failure is harmless: after a restart, the log decides about them again.
  func settle(through number: Int) {
    let isLarge = state.withLock { state in
      try? write(OutboxContent.line("= \(number)"), &state)
      state.settled = max(state.settled, number)
      let count = state.lines.prefix { $0.number <= number }.count
      state.lines.removeFirst(count)
      state.marks.removeFirst(state.marks.prefix { $0.number <= number }.count)
      state.settledLines += count
      return state.settledLines > 1_000 && state.settledLines > state.lines.count
    }
    if isLarge { compact() }
  }

  private func write(_ bytes: [UInt8], _ state: inout State) throws {
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes[done...].withUnsafeBytes {
        unsafe Self.write(state.descriptor, $0)
      }
      if count < 0 {
        let failure = OutboxFailure(failed: "write")
        if errno == EINTR { continue }
        // An incomplete line would spoil the next line.
        ftruncate(state.descriptor, state.size)
        throw failure
      }
      done += count
    }
    state.size += off_t(bytes.count)
  }

  private static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Glibc)
    unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    #elseif canImport(Musl)
    unsafe Musl.write(descriptor, bytes.baseAddress, bytes.count)
    #else
    unsafe Darwin.write(descriptor, bytes.baseAddress, bytes.count)
    #endif
  }

  /// Replaces the file by a file with the pending actions only.
  ///
  /// The lock keeps appended lines out. It waits for the file system.
  private func compact() {
    state.withLock { state in
      // After a release, the file may belong to another replica.
      if state.descriptor < 0 { return }
      var bytes = OutboxContent.line("ORIGIN \(origin)") + OutboxContent.line("= \(state.settled)")
      for (number, second) in state.marks { bytes += OutboxContent.line("> \(number) \(second)") }
      for (number, line) in state.lines { bytes += OutboxContent.line("\(number) ", line) }
      let name = path + ".new"
      let descriptor = unsafe open(name, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o666)
      if descriptor < 0 { return }
      let count = unsafe bytes.withUnsafeBytes { unsafe Self.write(descriptor, $0) }
      guard count == bytes.count, fsync(descriptor) == 0,
        flock(descriptor, LOCK_EX | LOCK_NB) == 0, unsafe rename(name, path) == 0
      else {
        close(descriptor)
        return
      }
      synchronizeFolder()
      close(state.descriptor)
      (state.descriptor, state.size, state.settledLines) = (descriptor, off_t(bytes.count), 0)
    }
  }
}

/// The readable lines of a file of pending actions.
struct OutboxContent {
  private(set) var origin: String?
  private(set) var settled = 0
  private(set) var lines: [(number: Int, line: Data)] = []
  private(set) var next = 1
  private(set) var marks: [(number: Int, second: Int)] = []
  /// The number of bytes up to the last complete line.
  private(set) var size = 0

  /// - Throws: An `OutboxFailure` for a damaged line. A line with a zero byte never reached the disk, so all from
  ///   there on is ignored.
  init(_ bytes: [UInt8]) throws {
    while let end = bytes[size...].firstIndex(of: UInt8(ascii: "\n")) {
      let line = bytes[size..<end]
      if !take(line) {
        if line.contains(0) { break }
        throw OutboxFailure(
          "The file of the pending actions is damaged at byte \(size). Restore it, or move it away to start without the "
            + "actions behind this byte")
      }
      size = end + 1
    }
    lines.removeAll { $0.number <= settled }
    marks.removeAll { $0.number <= settled }
    next = max(next, settled + 1)
  }

  private mutating func take(_ line: ArraySlice<UInt8>) -> Bool {
    let body = line.dropFirst(9)
    guard line.count > 9,
      UInt32(String(decoding: line.prefix(8), as: UTF8.self), radix: 16) == Checksum.of(body)
    else { return false }
    let words = body.split(separator: UInt8(ascii: " "), maxSplits: 1)
    guard words.count == 2 else { return false }
    let (key, value) = (String(decoding: words[0], as: UTF8.self), words[1])
    if key == "ORIGIN" {
      origin = String(decoding: value, as: UTF8.self)
    } else if key == "=" {
      settled = max(settled, Int(String(decoding: value, as: UTF8.self)) ?? 0)
    } else if key == ">" {
      let words = String(decoding: value, as: UTF8.self).split(separator: " ").compactMap {
        Int($0)
      }
      if words.count < 2 { return false }
      marks.append((words[0], words[1]))
    } else if let number = Int(key) {
      lines.append((number, Data(value)))
      next = max(next, number + 1)
    } else {
      return false
    }
    return true
  }

  static func line(_ head: String, _ rest: Data = Data()) -> [UInt8] {
    let body = Array(head.utf8) + rest
    let sum = String(Checksum.of(body[...]), radix: 16)
    let digits = String(repeating: "0", count: 8 - sum.utf8.count) + sum
    return Array("\(digits) ".utf8) + body + [UInt8(ascii: "\n")]
  }
}
