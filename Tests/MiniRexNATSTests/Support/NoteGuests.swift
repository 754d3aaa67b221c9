#if NATS
import Foundation
import MiniRex
import MiniRexNATS
import MiniRexNATSStore
import MiniRexReplica
import MiniRexStore
import TestSupport
import Testing
@testable import nats_guest

/// Processes that send notes through an outbox, and can be killed at any moment.
final class NoteGuests: Sendable {
  private let names: [String]
  private let folders: [Folder]
  private let url: String
  private let guests: Shared<[Guest]>
  private let kills = Shared(0)

  init(_ names: [String], _ url: String) throws {
    (self.names, self.url) = (names, url)
    folders = try names.map { _ in try Folder() }
    guests = Shared([])
    for index in names.indices { guests.append(try start(index)) }
  }

  private func start(_ index: Int) throws -> Guest {
    try Guest("notes", url, names[index], folders[index].url.path)
  }

  /// Kills a process, and starts another with its outbox.
  func replaceOne() async throws {
    let index = Int.random(in: names.indices)
    let guest = guests.value[index]
    guest.kill()
    _ = await guest.status()
    kills.increment()
    let new = try start(index)
    guests.change { $0[index] = new }
  }

  /// Kills the processes, and checks that each note was decided once, in its sender's order.
  ///
  /// - Parameter log: The log, with which replicas of this process continue the outboxes.
  func check(over log: NATSLog) async throws {
    // A process that was started again may not have sent a note yet.
    await until { self.folders.allSatisfy { Self.lineCount(of: $0.file("notes")) > 10 } }
    for guest in guests.value {
      guest.kill()
      _ = await guest.status()
    }
    let replicas = try folders.map { try LedgerReplica.make(log, keptIn: $0.url.path) }
    await until { replicas.allSatisfy { $0.progress.current()?.pending == 0 } }
    await until { Set(replicas.map(\.store.state.text)).count == 1 }

    for (name, folder) in zip(names, folders) {
      let sent = try String(contentsOf: folder.file("notes"), encoding: .utf8)
        .split(separator: "\n").map { "noted \($0)" }
      let decided = replicas[0].store.state.lines.filter { $0.hasPrefix("noted \(name) ") }
      #expect(sent.count > 10)
      let troubles = try String(contentsOf: folder.file("troubles"), encoding: .utf8)
        .split(separator: "\n").filter { !$0.hasPrefix("The snapshot cannot") }
      #expect(troubles == [])
      #expect(Set(decided).count == decided.count, "An action was decided twice.")
      // A process that was killed after its send has not written the note.
      let known = Set(sent)
      #expect(decided.filter(known.contains) == sent)
      #expect(decided.count - sent.count <= kills.value + names.count)
    }
    #expect(replicas[0].confirmed.current() == replicas[0].store.state)
    for replica in replicas { await replica.close() }
  }

  private static func lineCount(of file: URL) -> Int {
    (try? String(contentsOf: file, encoding: .utf8))?.split(separator: "\n").count ?? 0
  }
}
#endif
