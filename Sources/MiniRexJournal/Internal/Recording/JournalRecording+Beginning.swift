internal import MiniRex
internal import MiniRexStore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

// The thread that called `record` encodes the state and writes the first line. Until then, the delivering threads format
// the lines of later commits in memory, so no sender waits for the encoding.
extension JournalRecording {
  /// Called before `receive`, with the number of the commit that the first line includes.
  func collectCommits(after number: Int) {
    let offset = hold.file.extent.number - number
    memory.value.offset = offset
    memory.value.written = number
    collector.value.offset = offset
  }

  /// Writes the first line with the state, then the collected lines.
  ///
  /// A failure during the encoding has already ended the recording.
  func begin(with last: Commit<State, Action>) {
    do throws(JournalFailure) {
      let json = try MiniRexJournal.encoded(
        last.state, hold.file.extent.number, by: makeEncoder())
      guard progress.isActive else { return abandon() }
      try writeFirst(last, json)
      try writeEarly()
    } catch {
      abandon()
      progress.fail(with: error)
    }
    shortenAfterEarly()
  }

  private func writeFirst(_ commit: Commit<State, Action>, _ json: Data) throws(JournalFailure) {
    let part = hold.file.extent
    let follows = replayed?.contains(json, at: hold.file.generation) == true
    var members = firstMembers
    switch try hold.file.beginning {
    case .replaced:
      try replaceFile(json, follows && part.header.version == 1)
      progress.report()
      hasWritten(commit.number)
      return shorten(commit)
    case .empty:
      append(part.number, members, "\"start\"", json, to: &memory.value.line)
    case .continued:
      // A recording that repeats the state at each start would fill the disk in a crash loop.
      if follows, hold.file.bytesAfterState < json.count {
        // A `resume` with `synced` begins no recording.
        if let synced = members.synced {
          memory.value.line.appendMark(part.number, synced: synced)
          members.synced = nil
        }
        memory.value.line.append(part.number, members, "\"resume\"", Data("true".utf8))
      } else {
        members.continues = follows
        append(part.number, members, "\"start\"", json, to: &memory.value.line)
      }
    }
    try finish(with: commit)
  }
}
