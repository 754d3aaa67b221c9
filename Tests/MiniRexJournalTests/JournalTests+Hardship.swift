import Foundation
import MiniRexJournal
import MiniRexStore
import TestSupport
import Testing

@testable import journal_keeper

/// What only another program can be exposed to, since it keeps it to its end.
extension JournalTests {
  @Test(arguments: ["folder", "file"])
  func `S39 a folder or a file that may not be written is refused`(what: String) async throws {
    let folder = try Folder()
    try folder.make("closed")
    if what == "file" { _ = try folder.record(1) }
    let path = what == "file" ? folder.path("journal") : folder.path("closed/journal")
    unsafe chmod(what == "file" ? path : folder.path("closed"), what == "file" ? 0o444 : 0o555)

    // The rights of files say nothing to root.
    let child = try Child("poor", path, program: "journal-keeper")
    #expect(await child.output.rest() == ["\(JournalFailure.file(.EACCES))"])
    #expect(await child.status() == 3)
  }

  @Test func `S39 a file system that is read-only is refused`() async throws {
    let said = try await sayings("disk", "ro")
    #expect(said == ["\(JournalFailure.file(.EROFS))"])
  }

  @Test func `S39 a disk that is full ends the recording, and what was written counts`()
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
  func `S39 a disk that cannot take a line ends the recording`(when: String, written: Int)
    async throws
  {
    let said = try await sayings("broken", when)
    let failure = "\(JournalFailure.file(.EIO))"
    func counts(_ sent: Int) -> [String] {
      [failure, failure, "\(sent) sent, \(written) written, false", "\(written) replayed"]
    }
    #expect(said == counts(3) + counts(4))
  }

  @Test func `S39 a folder that cannot take the name of a new file is told`() async throws {
    let said = try await sayings("unmade", "")
    #expect(said == ["\(JournalFailure.file(.EIO))"])
  }

  /// What the program says to that; cancels the test where the system does not let it.
  private func sayings(_ mode: String, _ hardship: String) async throws -> [String] {
    let folder = try Folder()
    try folder.make("disk")
    let child = try Child(
      mode, folder.path("disk/journal"), hardship, program: "journal-keeper")
    let said = await child.output.rest()
    _ = await child.status()
    if said == ["no mount"] { try Test.cancel("Nobody may mount a file system here.") }
    if said == ["no filter"] { try Test.cancel("The system cannot be told to fail here.") }
    return said
  }
}
