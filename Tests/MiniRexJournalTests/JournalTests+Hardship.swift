import Foundation
import MiniRexJournal
import MiniRexStore
import TestSupport
import Testing

@testable import journal_keeper

/// Conditions that last to the end of a process, so the tests start another process.
extension JournalTests {
  @Test func `S39 a new journal in a folder without write permission throws EACCES`() async throws {
    let folder = try Folder()
    try folder.make("closed")
    unsafe chmod(folder.path("closed"), 0o555)

    // Permissions do not restrict root.
    let child = try Child("poor", folder.path("closed/journal"), program: "journal-keeper")
    #expect(await child.output.rest() == ["\(JournalFailure.file(.EACCES))"])
    #expect(await child.status() == 3)
  }

  @Test func `S39 a new journal on a read-only file system throws EROFS`() async throws {
    let said = try await sayings("disk", "ro")
    #expect(said == ["\(JournalFailure.file(.EROFS))"])
  }

  @Test func `S40 a file without write permission replays, and recording it fails`() async throws {
    let folder = try Folder()
    _ = try folder.record(3)
    let before = try folder.bytes()
    unsafe chmod(folder.path("journal"), 0o444)

    let child = try Child("poor", folder.path("journal"), program: "journal-keeper")
    let failure = "\(JournalFailure.file(.EACCES))"
    #expect(
      await child.output.rest() == [failure, failure, "4 sent, 3 written, false", "3 replayed"])
    #expect(await child.status() == 0)
    #expect(try folder.bytes() == before)
  }

  @Test func `S39 flush succeeds in a program that may no longer search the folder`() async throws {
    let folder = try Folder()
    unsafe chmod(folder.url.path, 0o700)
    let child = try Child("drop", folder.path("journal"), program: "journal-keeper")
    #expect(await child.output.rest() == ["no failure", "1 sent, 1 written, true", "1 replayed"])
  }

  @Test func `S40 a journal on a read-only file system replays, and recording it fails`()
    async throws
  {
    let said = try await sayings("sealed", "")
    let failure = "\(JournalFailure.file(.EROFS))"
    #expect(said == [failure, failure, "4 sent, 3 written, false", "3 replayed"])
  }

  @Test func `S39 a full file system ends the recording and keeps its complete lines`()
    async throws
  {
    let said = try await sayings("disk", "size=64k")
    let failure = "\(JournalFailure.file(.ENOSPC))"
    try #require(said.count == 4)
    #expect(said[..<2] == [failure, failure])
    let number = try #require(said[3].split(separator: " ").first.flatMap { Int($0) })
    #expect(number > 200)
    #expect(said[2] == "10000 sent, \(number) written, false")
  }

  @Test(arguments: [("flush", 3), ("commit", 1)])
  func `S39 a failed fsync ends the recording`(when: String, written: Int)
    async throws
  {
    let said = try await sayings("broken", when)
    let failure = "\(JournalFailure.file(.EIO))"
    func counts(_ sent: Int) -> [String] {
      [failure, failure, "\(sent) sent, \(written) written, false", "\(written) replayed"]
    }
    #expect(said == counts(3) + counts(4))
  }

  @Test func `S39 a new journal throws the failed fsync of its folder`() async throws {
    let said = try await sayings("unmade", "")
    #expect(said == ["\(JournalFailure.file(.EIO))"])
  }

  /// Returns the output of the program, or cancels the test if the system lacks the means.
  func sayings(_ mode: String, _ hardship: String) async throws -> [String] {
    let folder = try Folder()
    try folder.make("disk")
    let child = try Child(
      mode, folder.path("disk/journal"), hardship, program: "journal-keeper")
    let said = await child.output.rest()
    _ = await child.status()
    if said == ["no mount"] { try Test.cancel("This process may not mount a file system.") }
    if said == ["no filter"] { try Test.cancel("This system has no filter of system calls.") }
    return said
  }
}
