import Foundation
import MiniRex
import MiniRexJournal
import MiniRexStore
import TestSupport
import Testing

@testable import journal_keeper

extension JournalTests {
  @Test func `S39 a file that cannot be had is told with what the system says`() throws {
    let folder = try Folder()
    _ = try folder.write("text", to: "file")
    func failure(_ path: String) -> JournalFailure? {
      do throws(JournalFailure) {
        _ = try LedgerJournal(URL(filePath: path))
        return nil
      } catch {
        return error
      }
    }

    #expect(failure(folder.path("file/journal")) == .file(.ENOTDIR))
    #expect(failure(folder.path("none/journal")) == .file(.ENOENT))
    #expect(failure(folder.url.path) == .file(.EISDIR))
    #expect(failure("/dev/null") == .file(.EINVAL))
    let page = try #require(URL(string: "https://localhost/journal"))
    #expect(throws: JournalFailure.file(.EINVAL)) { try LedgerJournal(page) }
  }

  @Test func `S39 a second journal of the same file is refused until the first has gone`() throws {
    let folder = try Folder()
    var journal: LedgerJournal? = try LedgerJournal(folder)
    #expect(throws: JournalFailure.inUse) { try LedgerJournal(folder) }

    let store = Store(Ledger(), reducer: keeping)
    let recording = journal?.record(store)
    journal = nil
    store.send(.halve)
    #expect(throws: JournalFailure.inUse) { try LedgerJournal(folder) }

    recording?.invalidate()
    #expect(try LedgerJournal(folder).replay() == store.state)
  }

  @Test func `S39 a second process is refused until the first has been killed`() async throws {
    let folder = try Folder()
    let first = try Child("hold", folder.path("journal"), program: "journal-keeper")
    #expect(await first.output.until("held") == ["held"])

    #expect(throws: JournalFailure.inUse) { try LedgerJournal(folder) }
    let second = try Child("hold", folder.path("journal"), program: "journal-keeper")
    #expect(await second.output.rest() == ["\(JournalFailure.inUse)"])
    #expect(await second.status() == 3)

    first.send(SIGKILL)
    #expect(await first.status() == -SIGKILL)
    #expect(try LedgerJournal(folder).lastNumber == 0)
  }

  @Test(arguments: [60, 300, 5_000, 20_001])
  func `S39 a full disk ends the recording, and what was written counts`(bytes: Int)
    async throws
  {
    let folder = try Folder()
    let child = try Child("fill", folder.path("journal"), "\(bytes)", program: "journal-keeper")
    let said = await child.output.rest()
    #expect(await child.status() == 0)

    let failure = "\(JournalFailure.file(.EFBIG))"
    let journal = try LedgerJournal(folder)
    let number = journal.lastNumber - 1
    let counts = ["10000 sent, \(number) written, false", "\(number) replayed"]
    #expect(said == [failure, failure] + counts + ["true, true"])
    if number > 0 {
      let state = (1..<number).reduce(into: Ledger()) { _ = keeping(&$0, action($1)) }
      #expect(try journal.replay(upTo: number - 1) == state)
    }

    // There was room again, and the state was still there.
    #expect(try journal.replay().count == 10_001)
    try journal.verify()
  }
}
