#if os(Linux)
import Foundation
import MiniRex
import MiniRexStore
import TestSupport
import Testing

@testable import MiniRexJournal
@testable import journal_keeper

/// The access to files that replace or copy other files.
///
/// Only root can give a file to another user.
extension JournalTests {
  /// The user of the service.
  private static let nobody: UInt32 = 65_534

  private static let isRoot = geteuid() == 0

  private func status(_ path: String) -> stat {
    var status = stat()
    _ = unsafe stat(path, &status)
    return status
  }

  private func isOfService(_ path: String, mode: UInt32) -> Bool {
    let status = status(path)
    return status.st_uid == Self.nobody && status.st_gid == Self.nobody
      && status.st_mode & 0o7777 == mode
  }

  /// Records three actions in a file of the service, with a state after the second.
  private func recordForService(_ folder: Folder, mode: UInt32 = 0o640) throws {
    _ = try folder.record(3, every: 2)
    unsafe chown(folder.url.path, Self.nobody, Self.nobody)
    unsafe chown(folder.path("journal"), Self.nobody, Self.nobody)
    unsafe chmod(folder.path("journal"), mode)
  }

  private func tool(_ words: String...) async throws -> Int32? {
    let child = try Child(words, program: "minirex-journal")
    _ = await child.output.rest()
    return await child.status()
  }

  @Test(.enabled(if: isRoot, "only root can give a file to another user"))
  func `J18 a compaction keeps the owner, and the service can continue`() async throws {
    let folder = try Folder()
    try recordForService(folder)
    #expect(try await tool("compact", folder.path("journal")) == 0)
    #expect(folder.segments == ["000001-0.journal"])
    #expect(isOfService(folder.path("journal"), mode: 0o640))
    #expect(isOfService(folder.path("journal.segments"), mode: 0o750))
    #expect(isOfService(folder.path("journal.segments/000001-0.journal"), mode: 0o640))

    let child = try Child("squash", folder.path("journal"), program: "journal-keeper")
    #expect(
      await child.output.rest() == ["no failure", "6 sent, 6 written, true", "6 replayed"])
    #expect(folder.segments == ["000001-0.journal", "000002-2.journal"])
  }

  @Test(.enabled(if: isRoot, "only root can give a file to another user"))
  func `J18 a compaction that cannot keep the owner fails and changes nothing`() async throws {
    let folder = try Folder()
    _ = try folder.record(3)
    unsafe chmod(folder.url.path, 0o777)
    unsafe chmod(folder.path("journal"), 0o666)
    let child = try Child("squash", folder.path("journal"), program: "journal-keeper")
    #expect(
      await child.output.rest() == [
        "\(JournalFailure.file(.EPERM))", "no failure", "6 sent, 6 written, true", "6 replayed",
      ])
    #expect(folder.names == ["journal"] && status(folder.path("journal")).st_uid == 0)
  }

  @Test(.enabled(if: isRoot, "only root can give a file to another user"))
  func `J30 J32 backups and repairs keep the owner`() async throws {
    let folder = try Folder()
    try recordForService(folder)
    #expect(try await tool("compact", folder.path("journal")) == 0)
    #expect(try await tool("backup", folder.path("journal"), folder.path("copy")) == 0)
    #expect(isOfService(folder.path("copy/journal"), mode: 0o640))
    #expect(isOfService(folder.path("copy/journal.segments"), mode: 0o750))

    let disk = URL(filePath: "/dev/shm/\(UUID().uuidString)")
    #expect(try await tool("backup", folder.path("journal"), disk.path) == 0)
    defer { try? FileManager.default.removeItem(at: disk) }
    #expect(isOfService("\(disk.path)/journal.segments/000001-0.journal", mode: 0o640))

    try folder.append("text\n", to: "journal")
    #expect(try await tool("repair", folder.path("journal"), "--yes") == 0)
    #expect(isOfService(folder.path("journal"), mode: 0o640))
    #expect(isOfService(folder.path("journal.cut"), mode: 0o640))
  }

  @Test func `J30 a backup is not readable for more users than its journal`() throws {
    let folder = try Folder()
    _ = try folder.record(3)
    unsafe chmod(folder.path("journal"), 0o600)
    try LedgerReader(folder.journal).backup(to: folder.file("copy"))
    #expect(status(folder.path("copy/journal")).st_mode & 0o7777 == 0o600)
  }

  /// Runs a program in Python, which has calls for extended attributes.
  private func python(_ program: String, _ words: String...) async throws -> [String] {
    let child = try Child(
      ["python3", "-c", "import os, sys\n" + program] + words, path: "/usr/bin/env")
    let lines = await child.output.rest()
    if await child.status() != 0 {
      try Test.cancel("This system has no Python, or no extended attributes.")
    }
    return lines
  }

  @Test func `J18 a compaction keeps access control lists and extended attributes`() async throws {
    let folder = try Folder()
    _ = try folder.record(3, every: 2)
    // The owner and the group read and write, and user 7777 reads.
    let set = """
      import struct
      entries = [(1, 6, -1), (2, 4, 7777), (4, 6, -1), (16, 6, -1), (32, 0, -1)]
      acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
      os.setxattr(sys.argv[1], "system.posix_acl_access", acl)
      os.setxattr(sys.argv[1], "user.origin", b"a\\0b")
      """
    let show = """
      for name in sorted(os.listxattr(sys.argv[1])): print(name, os.getxattr(sys.argv[1], name))
      print(oct(os.stat(sys.argv[1]).st_mode))
      """
    _ = try await python(set, folder.path("journal"))
    let before = try await python(show, folder.path("journal"))
    #expect(before.count == 3)
    try await LedgerJournal(folder).compact()
    #expect(try folder.lines()[0].contains(#""segment":2"#))
    #expect(try await python(show, folder.path("journal")) == before)
    try LedgerReader(folder.journal).backup(to: folder.file("copy"))
    #expect(try await python(show, folder.path("copy/journal")) == before)

    // A folder that gives new files an access control list.
    let (other, acl) = (try Folder(), set.replacing("posix_acl_access", with: "posix_acl_default"))
    _ = try other.record(3, every: 2)
    let plain = try await python(show, other.path("journal"))
    _ = try await python(
      acl.replacing("os.setxattr(sys.argv[1], \"user", with: "(lambda *_: 0)(\"\", \"user"),
      other.url.path)
    try await LedgerJournal(other).compact()
    #expect(try await python(show, other.path("journal")) == plain)
  }
}
#endif
