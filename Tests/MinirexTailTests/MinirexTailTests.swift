import Foundation
import TestSupport
import Testing

/// Serialized, because a child process inherits the pipes of a process that starts at the same time.
@Suite(.light, .serialized) struct MinirexTailTests {
  let folder: Folder

  init() throws {
    folder = try Folder()
  }

  /// Runs the program to its end.
  func run(_ arguments: String...) async throws -> (
    output: [String], errors: [String], status: Int32?
  ) {
    let child = try Child(arguments)
    let output = await child.output.rest()
    let errors = await child.errors.rest()
    return (output, errors, await child.status())
  }

  func summary(lines: Int, bytes: Int, matches: Int = 0) -> [String] {
    ["lines: \(lines)", "bytes: \(bytes)", "matches: \(matches)", "updates: \(lines)"]
  }
}

extension MinirexTailTests {
  @Test func `a log is read to its end, its matches printed, and its lines counted`() async throws {
    let log = try folder.write("one\ntwo ERROR\nthree\n\nERROR\n", to: "log")

    let run = try await run("--once", "--match", "ERROR", log)

    #expect(run.output == ["two ERROR", "ERROR"] + summary(lines: 5, bytes: 27, matches: 2))
    #expect(run.errors == [])
    #expect(run.status == 0)
  }

  @Test func `files are read one after another, each with a last line without a newline`()
    async throws
  {
    let long = String(repeating: "-", count: 5 << 20)
    let first = try folder.write("\(long)\na1\na2", to: "first")
    let second = try folder.write("", to: "second")
    let third = try folder.write("a3", to: "third")

    let run = try await run("--once", "--match", "a", first, second, third)

    #expect(run.output.prefix(3) == ["a1", "a2", "a3"])
    #expect(run.output.contains("bytes: \(long.utf8.count + 8)"))
  }

  @Test func `every match in a file of many reads is printed`() async throws {
    let text = (0..<50_000).map { "line \($0) of a log that is long\n" }.joined()
    let log = try folder.write(text, to: "log")

    let run = try await run("--once", "--match", "line 1999", log)

    let matches = (0..<50_000).filter { "\($0)".hasPrefix("1999") }
    #expect(run.output.dropLast(4) == matches.map { "line \($0) of a log that is long" }[...])
    #expect(
      run.output.suffix(4)
        == summary(lines: 50_000, bytes: text.utf8.count, matches: matches.count)[...])
  }

  @Test func `a text matches where its beginning occurs twice`() async throws {
    let log = try folder.write("aab\nab\naa\na\n", to: "log")

    let run = try await run("--once", "--match", "ab", log)

    #expect(run.output == ["aab", "ab"] + summary(lines: 4, bytes: 12, matches: 2))
  }

  @Test func `invalid UTF-8 becomes replacement characters`() async throws {
    let text = Data("ok é\n".utf8) + Data([0xFF, 0xFE]) + Data("bad é".utf8) + Data([0xE2, 0x82])
    let log = try folder.write(text + Data("\n".utf8), to: "log")

    let run = try await run("--once", "--match", "é", log)

    #expect(
      run.output == ["ok é", "\u{FFFD}\u{FFFD}bad é\u{FFFD}"]
        + summary(lines: 2, bytes: text.count + 1, matches: 2))
  }

  @Test func `a line longer than one read is complete`() async throws {
    let long = String(repeating: "é", count: 1 << 19)
    let log = try folder.write("\(long)\n-\(long)\(long)-\nend\n\(long)-", to: "log")

    let run = try await run("--once", "--match", "", log)

    #expect(
      run.output == [long, "-\(long)\(long)-", "end", "\(long)-"]
        + summary(lines: 4, bytes: (1 << 22) + 9, matches: 4))
  }

  @Test func `a text matches at every place of a long line`() async throws {
    let half = String(repeating: "-", count: (1 << 20) - 2)
    let log = try folder.write("\(half)ERROR\(half)\n\(half)-ERROR", to: "log")

    let run = try await run("--once", "--match", "ERROR", log)

    #expect(
      run.output == ["\(half)ERROR\(half)", "\(half)-ERROR"]
        + summary(lines: 2, bytes: 3 * half.utf8.count + 12, matches: 2))
  }

  @Test func `a line of any length counts once without --match`() async throws {
    let long = String(repeating: "é", count: 1 << 20)
    let log = try folder.write("\(long)\n\n\(long)\(long)\nend\n\(long)", to: "log")

    let run = try await run("--once", log)

    #expect(run.output == summary(lines: 5, bytes: (1 << 23) + 7))
  }

  @Test func `a terminal shows the progress of the first read of a file`() async throws {
    let log = try folder.write(String(repeating: "line\n", count: 200_000), to: "log")
    let child = try Child(["--once", log, folder.path("missing")], onTerminal: true)

    let line = await child.errors.until("No such file").joined()

    for part in ["26 % ##########\r", "78 % ###############################\r"] {
      #expect(line.contains(part))
    }
    #expect(line.contains("\u{1B}[Kminirex-tail: "))
  }

  @Test func `more files than descriptors are read`() async throws {
    let logs = try (0..<100).map { try folder.write("line\n", to: "log \($0)") }

    let child = try Child(["--once"] + logs, openFiles: 50)

    #expect(await child.output.rest() == summary(lines: 100, bytes: 500))
    #expect(await child.errors.rest() == [])
    #expect(await child.status() == 0)
  }

  @Test func `a name that is given twice is read twice`() async throws {
    let log = try folder.write("line\n", to: "log")

    let run = try await run("--once", log, log)

    #expect(run.output == summary(lines: 2, bytes: 10))
    #expect(run.errors == [] && run.status == 0)
  }

  @Test func `each unreadable file is reported once, and the other files are read`() async throws {
    let log = try folder.write("line\n", to: "log")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("loop"), withDestinationPath: "loop")
    let (missing, circle) = (folder.path("missing"), folder.path("loop"))

    let run = try await run("--once", missing, folder.path("."), circle, log)

    let failures = [
      (missing, "No such file or directory"), (folder.path("."), "Is a directory"),
      (circle, "Too many levels of symbolic links"),
    ]
    #expect(run.errors.count == failures.count)
    for (error, (path, reason)) in zip(run.errors, failures) {
      #expect(error.hasPrefix("minirex-tail: \(path): ") && error.hasSuffix(reason))
    }
    #expect(run.output == summary(lines: 1, bytes: 5))
    #expect(run.status == 1)
  }

  @Test func `the drawing contains the sources and subscriptions`() async throws {
    let log = try folder.write("one\ntwo ERROR\n", to: "log")
    let picture = folder.path("graph.dot")

    let run = try await run("--once", "--match", "ERROR", "--graph", picture, log)

    let dot = try String(contentsOfFile: picture, encoding: .utf8)
    #expect(run.status == 0 && run.errors == [])
    #expect(dot.hasPrefix("digraph MiniRex {") && dot.hasSuffix("}\n"))
    for name in ["pieces", "lines", "notices", "hints", "filter", "share", "publishedValue"] {
      #expect(dot.contains("<b>\(name)</b>"))
    }
    #expect(dot.contains("minirex_tail/main.swift:") && dot.contains("[label=\"2, "))
  }

  @Test func `a drawing that cannot be written is reported`() async throws {
    let log = try folder.write("one\n", to: "log")
    let picture = folder.path("missing/graph.dot")

    let run = try await run("--once", "--graph", picture, log)

    #expect(run.errors.map { $0.hasPrefix("minirex-tail: \(picture): ") } == [true])
    #expect(run.output == summary(lines: 1, bytes: 4) && run.status == 1)
  }

  @Test(arguments: [
    [], ["--once"], ["--graph"], ["--twice"], ["-x", "file"], ["file", "--match"],
  ])
  func `an invalid option or value prints the usage`(arguments: [String]) async throws {
    let child = try Child(arguments)

    #expect(await child.errors.until("usage: minirex-tail").count == 1)
    #expect(await child.output.rest() == [])
    #expect(await child.status() == 2)
  }
}
