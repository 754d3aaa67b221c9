import Foundation
import MiniRex
import MiniRexReplica
import TestSupport

/// A log in a file, which survives the process that appends to it.
final class FileLog: ReplicaLog {
  private let link: MemoryLog.Link
  private let file: Shared<FileHandle>

  /// Opens or creates the file.
  init(_ path: String) throws {
    link = MemoryLog().link()
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
    if descriptor < 0 { throw POSIXError(.EIO) }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    let content = try file.readToEnd() ?? Data()
    self.file = Shared(file)
    for line in content.split(separator: UInt8(ascii: "\n")) {
      let words = try JSONDecoder().decode([String].self, from: line)
      link.append(ReplicaMessage(header: words[0], payload: Data(words[1].utf8)))
        .subscribe { _ in }.detached()
    }
  }

  func append(_ entry: ReplicaMessage) -> PublishedTask<UInt64, ReplicaLogError> {
    // One thread of the replica appends, so the file has the order of the log.
    let words = [entry.header, String(decoding: entry.payload, as: UTF8.self)]
    let isWritten = file.change { file in
      guard let line = try? JSONEncoder().encode(words) else { return false }
      return (try? file.write(contentsOf: line + Data("\n".utf8))) != nil
    }
    if !isWritten { return .failure(ReplicaLogError("not written")) }
    return link.append(entry)
  }

  func entries(after sequence: UInt64) -> Broadcaster<ReplicaLogEvent> {
    link.entries(after: sequence).map { event in
      switch event {
      case .entry(let entry): .entry(Self.timed(entry))
      case .connected(let state):
        .connected(
          ReplicaLogState(
            first: state.first, last: state.last, lastTime: Int64(state.last),
            entry: state.entry.map(Self.timed)))
      default: event
      }
    }
  }

  func snapshot(through sequence: UInt64) -> PublishedTask<Data?, ReplicaLogError> {
    link.snapshot(through: sequence)
  }

  func addSnapshot(_ snapshot: ReplicaLogSnapshot) -> PublishedTask<Void, ReplicaLogError> {
    link.addSnapshot(snapshot)
  }

  /// An entry has the same time in each process.
  private static func timed(_ entry: ReplicaLogEntry) -> ReplicaLogEntry {
    ReplicaLogEntry(sequence: entry.sequence, time: Int64(entry.sequence), entry.message)
  }
}
