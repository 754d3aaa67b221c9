import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct IssueBoardTests {
  @Test func `the program shows what is found, follows the folder and does what it is told`()
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
    try child.write("se 2\nadd by hand\nfly\n")
    _ = await child.output.until("  3  by hand")
    let help = await child.output.until("quit")
    child.send(SIGINT)

    #expect(help.contains { $0.hasPrefix("move NUMBER") })
    #expect(await child.status() == 0)
  }

  @Test func `a wrong command line is told how to write it`() async throws {
    let child = try Child("--terminal", program: "issue-board")

    #expect(await child.errors.rest() == ["usage: issue-board --terminal --directory PATH"])
    #expect(await child.status() == 2)
  }
}
