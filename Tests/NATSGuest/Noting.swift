#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexNATSStore
import MiniRexReplica
import MiniRexStore

/// Sends notes as fast as the log decides them, and writes each note to a file after its send has returned.
func sendNotes(as name: String, keptIn folder: String, over nats: NATSConnection) async throws {
  let log = nats.log("ledger", snapshotEvery: 50)
  let replica = try LedgerReplica(
    Ledger(), of: log, keptIn: folder, retryAfter: .milliseconds(500), reducer: reduce)
  let troubles = try openToAppend(folder + "/troubles")
  let reporting = replica.troubles.subscribe { trouble in
    try? troubles.write(contentsOf: Data("\(trouble)\n".utf8))
  }
  let notes = try openToAppend(folder + "/notes")
  for number in 1... {
    // Below the limit of the replica, which would refuse the note.
    while replica.progress.current().map({ $0.pending > 1_000 }) ?? false {
      try await Task.sleep(for: .milliseconds(20))
    }
    let note = "\(name) \(getpid())-\(number)"
    replica.send(.noted(note))
    try notes.write(contentsOf: Data("\(note)\n".utf8))
    try await Task.sleep(for: .milliseconds(2))
  }
  withExtendedLifetime(reporting) {}
}

private func openToAppend(_ path: String) throws -> FileHandle {
  if !FileManager.default.fileExists(atPath: path) { try Data().write(to: URL(filePath: path)) }
  let file = try FileHandle(forWritingTo: URL(filePath: path))
  try file.seekToEnd()
  return file
}
#endif
