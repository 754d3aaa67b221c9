import Foundation
import TestSupport
import Testing

@testable import issue_board

@Suite(.light) struct IssueBoardTests {
  @Test func `the program prints findings, follows the folder, and executes commands`()
    async throws
  {
    let folder = try Folder()
    _ = try folder.write("// TODO: mend this\n", to: "a.swift")
    let child = try Child(
      "--terminal", "--directory", folder.url.path, program: "issue-board")

    _ = await child.output.until("  1  mend this  (a.swift:1)")
    _ = try folder.write("// FIXME: and that\n", to: "b.swift")
    _ = await child.output.until("  2  and that  (b.swift:1)")
    try child.write("move 1 doing\nclo")
    _ = await child.output.until("doing")
    try child.write("se 2\nadd by hand\n")
    _ = await child.output.until("  3  by hand")
    // Not earlier, because an answer may overtake a board that another thread delivers.
    try child.write("fly\n")
    let help = await child.output.until("quit")
    child.send(SIGINT)

    #expect(help.contains { $0.hasPrefix("move NUMBER") })
    #expect(await child.status() == 0)
  }

  @Test func `early commands are executed after the first search, the last without a newline`()
    async throws
  {
    let folder = try Folder()
    _ = try folder.write("// TODO: mend this\n", to: "a.swift")
    // A pipe without a writer.
    #expect(unsafe mkfifo(folder.url.appending(path: "pipe").path, 0o600) == 0)
    let child = try Child("--terminal", "--directory", folder.url.path, program: "issue-board")

    try child.write("list\nclose 7")
    try child.closeInput()
    let lines = await child.output.rest()

    #expect(lines.contains("  1  mend this  (a.swift:1)"))
    #expect(lines.last == "There is no card 7. The cards have the numbers that the board shows.")
    #expect(await child.status() == 0)
  }

  @Test func `a file that changes continuously does not delay findings in other files`()
    async throws
  {
    let folder = try Folder()
    let child = try Child("--terminal", "--directory", folder.url.path, program: "issue-board")
    _ = await child.output.until("done")
    let writing = Task {
      while !Task.isCancelled {
        try folder.write("again\n", to: "log.txt")
        try await Task.sleep(for: .milliseconds(10))
      }
    }

    _ = try folder.write("// TODO: mend this\n", to: "a.swift")

    _ = await child.output.until("  1  mend this  (a.swift:1)")
    writing.cancel()
    child.send(SIGTERM)
    #expect(await child.status() == 0)
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `the program serves the page, and exits with 0 after a signal`(signal: Int32) async throws {
    let folder = try Folder()
    _ = try folder.write("// TODO: mend this\n", to: "a.swift")
    let child = try Child(
      "--directory", folder.url.path, "--port", "0", program: "issue-board")
    let address = await child.output.until("http").last ?? ""
    let port = try #require(UInt16(address.split { !$0.isNumber }.last ?? ""))
    let page = Page(port)
    defer { page.close() }

    await until { page.cards.contains("1 todo mend this a.swift:1") }
    _ = try folder.write("// FIXME: and that\n", to: "b.swift")
    await until { page.cards.contains("2 todo and that b.swift:1") }
    let second = try Child(
      "--directory", folder.url.path, "--port", "\(port)", program: "issue-board")
    let advice = "issue-board: port \(port): Address already in use. Use --port NUMBER."
    #expect(await second.errors.rest() == [advice])
    #expect(await second.status() == 1)
    child.send(signal)

    let (status, errors) = (await child.status(), await child.errors.rest())
    #expect(errors == [])
    #expect(status == 0)
  }

  @Test func `a journal in the followed folder is not searched`() async throws {
    let folder = try Folder()
    let path = folder.url.path
    _ = try folder.write("// TODO: mend this # TODO: and that\n", to: "a.swift")
    let child = try Child(
      "--directory", path, "--journal", "\(path)/journal", "--port", "0", program: "issue-board")
    let port = try #require(
      UInt16(await child.output.until("http").last?.split { !$0.isNumber }.last ?? ""))
    let page = Page(port)
    defer { page.close() }
    // The journal now contains the finding, with its comment sign.
    await until { page.cards.contains("a.swift") }

    _ = try folder.write("// TODO: again\n", to: "b.swift")

    await until { page.cards.contains("b.swift") }
    #expect(!page.cards.contains("journal"))
    #expect(try String(contentsOf: folder.file("journal"), encoding: .utf8).contains("# TODO: and"))
    child.send(SIGTERM)
    #expect(await child.status() == 0)
  }

  @Test func `the closed files and the next file of a journal are not searched`() throws {
    let folder = try Folder()
    let text = "// TODO: mend this\n"
    try FileManager.default.createDirectory(
      at: folder.file("journal.segments"), withIntermediateDirectories: false)
    for name in ["a.swift", "journal", "journal.next", "journal.segments/000001-0.journal"] {
      _ = try folder.write(text, to: name)
    }

    var search = Search(folder.url.path, except: folder.path("journal")) { _ in }
    let found = search.findings()

    #expect(found.comments.map(\.file) == ["a.swift"])
    #expect(found.folders == [folder.url.path])
  }

  @Test func `an invalid command line prints the usage`() async throws {
    let child = try Child("--terminal", "--directory", program: "issue-board")
    #expect(
      await child.errors.rest() == [
        "usage: issue-board [--directory PATH] [--journal FILE [--keep COMMITS]] [--port NUMBER | --terminal]",
        "                   [--graph FILE] [--inspect PORT] [--cards NUMBER --changes NUMBER]",
      ])
    #expect(await child.status() == 2)

    let missing = try Child("--directory", "/nowhere", program: "issue-board")
    let reason = "issue-board: /nowhere: no such directory. Use --directory PATH."
    #expect(await missing.errors.rest() == [reason])
    #expect(await missing.status() == 1)
  }

  @Test(arguments: [
    (["--port", "0"], "Examples/tide-clock", 0),
    (["--directory", "a", "--port", "80"], "a", 80),
    (["--terminal", "--directory", "a"], "a", nil), ([], "Examples/tide-clock", 8080),
  ])
  func `valid options are parsed`(words: [String], directory: String, port: UInt16?) throws {
    let options = try #require(Options(words))
    #expect(options.directory == directory && options.port == port)
  }

  @Test(arguments: [
    ["--port"], ["--inspect", "x"], ["--graph"], ["--port", "65536"], ["--port", "-1"], ["file"],
    ["--terminal", "--port", "1"], ["--cards", "-1"], ["--cards", "x"], ["--changes", "-1"],
    ["--changes", "10"],
  ])
  func `invalid options return nil`(words: [String]) { #expect(Options(words) == nil) }
}
