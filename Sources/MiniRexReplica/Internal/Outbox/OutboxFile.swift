internal import CLibrary
internal import MiniRex
internal import MiniRexJournal

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The pending actions of one origin, in a file that belongs to one process.
///
/// Each line has a checksum: `89abcdef 7 {…}` is the action with the number 7, `89abcdef = 7` records that all
/// actions up to 7 are decided, and `89abcdef ORIGIN NAME` is the first line. A decided action stays until a written
/// state contains it. A last line that never reached the disk is removed. Any other unreadable line is a failure: the
/// actions behind it may be in the log, so their numbers must not be used again. The send side calls `append` with
/// exclusive access, and the queue calls `settle`.
final class OutboxFile: Sendable {
  private struct State: Sendable {
    /// `nil` after the release.
    var file: JournalDescriptor?
    var index: OutboxIndex
  }

  let origin: String
  /// The content when the file was opened.
  let restored: OutboxContent
  private let folder: String
  private let state: Lock<State>

  private var path: String { folder + "/outbox" }

  /// Opens or creates the file in a folder.
  init(in folder: String) throws(OutboxFailure) {
    self.folder = folder
    let path = folder + "/outbox"
    let file: JournalDescriptor
    var bytes: [UInt8] = []
    do throws(JournalFailure) {
      file = try openRegularFile(path, O_RDWR | O_CREAT)
      try lockFile(file.number, LOCK_EX)
      // Before the lock, another replica may have replaced the file.
      if !(try isNamed(path, file.number)) { throw .inUse }
      let size = Int(try fileStatus(of: file.number).st_size)
      try read(file.number, at: 0, upTo: size, appendingTo: &bytes)
    } catch {
      if error == .inUse { throw OutboxFailure("\(path) belongs to another replica") }
      throw OutboxFailure(failed: "open \(path)", error)
    }
    restored = try OutboxContent(bytes)
    if restored.size < bytes.count { ftruncate(file.number, off_t(restored.size)) }
    origin = restored.origin ?? UUID().uuidString
    state = Lock(State(file: file, index: OutboxIndex(restored)))
    if restored.origin == nil {
      let line = OutboxContent.line("ORIGIN \(origin)")
      try state.withLock { state throws(OutboxFailure) in try write(line, &state) }
    }
    // Without the synchronization, a power failure could restore an earlier file with this name.
    try? synchronizeFolder(folder)
  }

  deinit { release() }

  /// Closes the file, which fails further writes.
  func release() {
    let file = state.withLock { $0.file.take() }
    // A process that is being started has a copy of the descriptor, which would keep the lock.
    withExtendedLifetime(file) { if let file { _ = flock(file.number, LOCK_UN) } }
  }

  func append(_ line: Data, number: Int) throws(OutboxFailure) {
    let bytes = OutboxContent.line("\(number) ", line)
    // In one step, because a compaction keeps only the lines that it knows.
    try state.withLock { state throws(OutboxFailure) in
      let place = state.index.size
      try write(bytes, &state)
      state.index.hasAppended(number, at: place)
    }
  }

  /// Makes all earlier lines durable, and returns the number of the last action in them.
  ///
  /// It waits for the disk outside the lock, so other threads append lines concurrently.
  @discardableResult
  func synchronize(with synchronize: ReplicaDurability.Synchronize) throws(OutboxFailure) -> Int {
    let (file, number) = state.withLock { ($0.file, $0.index.last) }
    guard let file else { throw OutboxFailure("The file of the pending actions is closed") }
    defer { withExtendedLifetime(file) {} }
    do { try synchronize(file.number) } catch { throw OutboxFailure(failed: "synchronize", error) }
    return number
  }

  /// Records that the actions up to a number were sent, unless that is known.
  ///
  /// The line precedes the send. Without it, the actions would be sent again after the log has forgotten them.
  func mark(sent number: Int, at second: Int) {
    state.withLock { state in
      if state.index.isMarked(number) { return }
      try? write(OutboxContent.line("> \(number) \(second)"), &state)
      state.index.mark(number, at: second)
    }
  }

  /// Returns the Unix second at which an action was sent first, or `nil`.
  func sentAt(_ number: Int) -> Int? {
    state.withLock { $0.index.sentAt(number) }
  }

  /// Records that all actions up to a number are decided.
  func settle(through number: Int) throws(OutboxFailure) {
    try state.withLock { state throws(OutboxFailure) in
      if number <= state.index.settled { return }
      try write(OutboxContent.line("= \(number)"), &state)
      state.index.hasSettled(through: number)
    }
  }

  /// Removes the actions up to a number, which a written state contains.
  func forget(through number: Int) {
    let isLarge = state.withLock { $0.index.forget(through: number) }
    if isLarge { compact() }
  }

  private func write(_ bytes: [UInt8], _ state: inout State) throws(OutboxFailure) {
    guard let file = state.file else {
      throw OutboxFailure("The file of the pending actions is closed")
    }
    var done = 0
    do {
      try MiniRexJournal.write(bytes, to: file.number, &done)
    } catch {
      // An incomplete line would spoil the next line.
      if done > 0 { ftruncate(file.number, off_t(state.index.size)) }
      throw OutboxFailure(failed: "write", error)
    }
    state.index.hasWritten(bytes.count)
  }

  /// Replaces the file by a file without the lines that are forgotten.
  ///
  /// The lock keeps appended lines out. It waits for the file system. After a failure, the file stays.
  private func compact() {
    state.withLock { state in
      // After a release, the file may belong to another replica.
      guard let old = state.file else { return }
      var bytes = state.index.head(of: origin)
      let (start, size) = (state.index.start, state.index.size)
      let shift = bytes.count - start
      do throws(JournalFailure) {
        try read(old.number, at: start, upTo: size - start, appendingTo: &bytes)
        let file = try replaceFile(path, with: bytes) { file throws(JournalFailure) in
          try MiniRexJournal.synchronize(file)
          try lockFile(file, LOCK_EX)
        }
        try? synchronizeFolder(folder)
        state.file = file
        state.index.hasCompacted(to: bytes.count, shift: shift)
      } catch {}
    }
  }
}
