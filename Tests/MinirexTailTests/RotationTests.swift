import Foundation
import TestSupport
import Testing

extension MinirexTailTests {
  @Test func `files that had the name while the program was stopped are read without older files`()
    async throws
  {
    try folder.write("before\n", to: "log.1")
    let log = try folder.write("0\n", to: "log")
    let child = try Child("--match", "", log)

    await child.output.until("0")
    child.send(SIGSTOP)
    try folder.append("0 last\n", to: "log")
    try folder.move("log.1", to: "log.4")
    try folder.move("log", to: "log.3")
    for number in 1...3 {
      try folder.write("\(number)\n", to: number < 3 ? "log.\(3 - number)" : "log")
    }
    child.send(SIGCONT)

    #expect(await child.output.until("3") == ["0 last", "1", "2", "3"])
    child.send(SIGINT)
    #expect(await child.output.rest() == summary(lines: 5, bytes: 15, matches: 5))
  }

  @Test func `a removed file is not mistaken for an older file that has a number`()
    async throws
  {
    try folder.write("before\n", to: "log.1")
    let log = try folder.write("old\n", to: "log")
    let child = try Child("--match", "", log)

    await child.output.until("old")
    child.send(SIGSTOP)
    try FileManager.default.removeItem(atPath: log)
    try folder.write("new\n", to: "log")
    child.send(SIGCONT)

    #expect(await child.output.until("new") == ["new"])
    child.send(SIGINT)
    #expect(await child.output.rest() == summary(lines: 2, bytes: 8, matches: 2))
  }

  @Test func `a truncated file that has grown again is read from its beginning`()
    async throws
  {
    let log = try folder.write("1 old\n2 old\n", to: "log")
    let other = try folder.write("other\n", to: "other")
    let child = try Child("--match", "", log, other)

    // The first read of the log is finished.
    await child.output.until("other")
    child.send(SIGSTOP)
    // Write in place, so that it is the same file: first exactly as long as before, then longer.
    let handle = try FileHandle(forUpdating: URL(filePath: log))
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: Data("1 new\n2 new\n".utf8))
    child.send(SIGCONT)
    #expect(await child.output.until("2 new") == ["1 new", "2 new"])
    child.send(SIGSTOP)
    try handle.truncate(atOffset: 0)
    try handle.seek(toOffset: 0)
    try handle.write(contentsOf: Data("1 newer\n2 newer\n".utf8))
    child.send(SIGCONT)

    #expect(await child.output.until("2 newer") == ["1 newer", "2 newer"])
    child.send(SIGINT)
    #expect(await child.output.rest() == summary(lines: 7, bytes: 46, matches: 7))
  }

  @Test func `lines written before a truncation are read from the copy`() async throws {
    let log = try folder.write("1\n", to: "log")
    let other = try folder.write("other\n", to: "other")
    let child = try Child("--match", "", log, other)

    await child.output.until("other")
    child.send(SIGSTOP)
    try folder.append("2\n3\n", to: "log")
    try FileManager.default.copyItem(atPath: log, toPath: folder.path("log.1"))
    #expect(unsafe truncate(log, 0) == 0)
    try folder.append("4\n5\n6\n7\n", to: "log")
    child.send(SIGCONT)

    #expect(await child.output.until("7") == ["2", "3", "4", "5", "6", "7"])
    child.send(SIGINT)
    #expect(await child.output.rest() == summary(lines: 8, bytes: 20, matches: 8))
  }
}
