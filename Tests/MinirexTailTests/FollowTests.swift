import Foundation
import TestSupport
import Testing

extension MinirexTailTests {
  @Test(arguments: [SIGINT, SIGTERM])
  func `lines are printed as they are written, until a signal`(signal: Int32) async throws {
    let log = try folder.write("a0\n", to: "log")
    let other = try folder.write("a1\n", to: "other")
    let child = try Child("--match", "a", log, other)

    // The first read of the log is finished.
    #expect(await child.output.until("a1") == ["a0", "a1"])
    try folder.append("b\na2\nhalf", to: "log")
    #expect(await child.output.until("a2") == ["a2"])
    try folder.append(" a3", to: "log")
    child.send(signal)

    #expect(await child.output.rest() == ["half a3"] + summary(lines: 5, bytes: 18, matches: 4))
    #expect(await child.status() == 0)
  }

  @Test func `a file that is replaced repeatedly loses no line`() async throws {
    let log = try folder.write("0 first\n", to: "log")
    let child = try Child("--match", "", log)

    await child.output.until("0 first")
    for number in 1...5 {
      let writer = try FileHandle(forWritingTo: URL(filePath: log))
      try writer.seekToEnd()
      try folder.move("log", to: "old\(number)")
      // While there is no file, or an empty one, the writer continues in the old file.
      try writer.write(contentsOf: Data("\(number) moved\n".utf8))
      #expect(await child.output.until("moved") == ["\(number) moved"])
      try folder.write("", to: "log")
      try writer.write(contentsOf: Data("\(number) late\n".utf8))
      #expect(await child.output.until("late") == ["\(number) late"])
      try writer.write(contentsOf: Data("\(number) last".utf8))
      try folder.append("\(number) new\n", to: "log")
      #expect(await child.output.until("new") == ["\(number) last", "\(number) new"])
    }
    child.send(SIGINT)

    #expect(await child.output.rest() == summary(lines: 21, bytes: 143, matches: 21))
    #expect(await child.errors.rest().count { $0 == "minirex-tail: \(log): file replaced" } == 5)
    #expect(await child.status() == 0)
  }

  @Test func `a removed file is followed while its writer continues`() async throws {
    let log = try folder.write("old\n", to: "log")
    let child = try Child("--match", "", log)

    await child.output.until("old")
    let writer = try FileHandle(forWritingTo: URL(filePath: log))
    try writer.seekToEnd()
    try FileManager.default.removeItem(atPath: log)
    for number in 1...3 {
      // The program must notice each line alone.
      try writer.write(contentsOf: Data("\(number) late\n".utf8))
      #expect(await child.output.until("late") == ["\(number) late"])
    }
    try folder.write("new\n", to: "log")
    #expect(await child.output.until("new") == ["new"])
    child.send(SIGINT)

    #expect(await child.output.rest() == summary(lines: 5, bytes: 29, matches: 5))
  }

  @Test func `a file that another file is moved onto loses no line`() async throws {
    let log = try folder.write("old\n", to: "log")
    let child = try Child("--match", "", log)

    await child.output.until("old")
    try folder.append("older\n", to: "log")
    try folder.write("new\n", to: "next")
    #expect(unsafe rename(folder.path("next"), log) == 0)
    #expect(await child.output.until("new") == ["older", "new"])
    child.send(SIGINT)

    #expect(await child.output.rest() == summary(lines: 3, bytes: 14, matches: 3))
  }

  @Test func `a truncated file is reported, and read from its beginning`() async throws {
    let log = try folder.write("long line\nhalf", to: "log")
    let child = try Child("--match", "", log)

    await child.output.until("long line")
    #expect(unsafe truncate(log, 0) == 0)
    await child.errors.until("minirex-tail: \(log): file truncated")
    #expect(await child.output.until("half") == ["half"])
    try folder.append("new\n", to: "log")
    #expect(await child.output.until("new") == ["new"])
    child.send(SIGINT)

    #expect(await child.output.rest() == summary(lines: 3, bytes: 18, matches: 3))
  }

  @Test func `a missing file is reported once, and read when it appears`() async throws {
    let log = folder.path("log")
    let other = try folder.write("", to: "other")
    let child = try Child("--match", "", log, other)

    #expect(await child.errors.until("No such file").map { $0.contains("\(log): ") } == [true])
    for look in 1...5 {
      try folder.append("\(look)\n", to: "other")
      #expect(await child.output.until("\(look)") == ["\(look)"])
    }
    try folder.write("there\n", to: "log")
    #expect(await child.output.until("there") == ["there"])
    child.send(SIGINT)

    #expect(await child.output.rest() == summary(lines: 6, bytes: 16, matches: 6))
    #expect(await child.errors.rest().allSatisfy { !$0.contains("No such file") })
    #expect(await child.status() == 1)
  }

  @Test func `a file in missing folders is read when they appear`() async throws {
    let log = folder.path("above/folder/log")
    let child = try Child("--match", "", log)

    await child.errors.until("No such file")
    try folder.make("above")
    try folder.make("above/folder")
    try folder.write("first\n", to: "above/folder/log")
    #expect(await child.output.until("first") == ["first"])
    try folder.move("above/folder", to: "above/old")
    try folder.make("above/folder")
    try folder.write("second\n", to: "above/folder/log")
    #expect(await child.output.until("second") == ["second"])
    child.send(SIGINT)

    #expect(await child.output.rest() == summary(lines: 2, bytes: 13, matches: 2))
  }

  @Test func `a file behind a symbolic link is followed when it appears and when it is replaced`()
    async throws
  {
    try folder.make("elsewhere")
    for (link, target) in [("link", "elsewhere/link"), ("elsewhere/link", "log")] {
      try FileManager.default.createSymbolicLink(
        atPath: folder.path(link), withDestinationPath: target)
    }
    let child = try Child("--match", "", folder.path("link"))

    await child.errors.until("No such file")
    try folder.write("old\n", to: "elsewhere/log")
    await child.output.until("old")
    try folder.move("elsewhere/log", to: "elsewhere/log.1")
    try folder.append("moved\n", to: "elsewhere/log.1")
    await child.output.until("moved")
    try folder.write("new\n", to: "elsewhere/log")
    #expect(await child.output.until("new") == ["new"])
    child.send(SIGINT)

    #expect(await child.output.rest() == summary(lines: 3, bytes: 14, matches: 3))
  }

  @Test func `the program exits quietly when the reader of its output exits`() async throws {
    let log = try folder.write("a1\n", to: "log")
    let child = try Child(["--match", "a", log], readsOutput: false)

    #expect(await child.status() == -SIGPIPE)
    #expect(await child.errors.rest() == [])
  }
}
